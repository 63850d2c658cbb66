import fc from "fast-check";
import { describe, expect, test } from "vitest";
import type { BusMessage } from "./bus.ts";
import { checkMessage, checkStreamItem, MAX_MESSAGE_BYTES } from "./message.ts";

const SUBJECT = "cg.v1r4.p1.public.cmd.tool.desk.work.more";
const message = (change: Partial<BusMessage> = {}): BusMessage => ({
  subject: SUBJECT,
  headers: {},
  payload: "{}",
  ...change,
});

describe("checkMessage", () => {
  test("gives the subject in parts", () => {
    expect(checkMessage(message())).toMatchObject({
      projectId: "p1",
      category: "cmd",
      component: "tool",
      target: "desk",
      suffix: "work.more",
    });
  });

  test.each<readonly [string, Partial<BusMessage>]>([
    ["a payload that is not text", { payload: 7 as unknown as string }],
    ["a header that is not text", { headers: { a: 7 as unknown as string } }],
    ["a header with a blank name", { headers: { " ": "x" } }],
    ["the removed trace header", { headers: { "CG-Trace-Id": "x" } }],
    ["a transport header in any case", { headers: { "nAts-Rollup": "all" } }],
    ["a message id with a line end", { messageId: "a\nb" }],
    ["a message id that is too long", { messageId: "m".repeat(257) }],
  ])("refuses %s", (_, change) => {
    expect(() => checkMessage(message(change))).toThrow(expect.objectContaining({ code: "protocol_violation" }));
  });

  test("counts bytes of payload and headers together", () => {
    const headers = { "X-A": "1".repeat(100) };
    const overhead = "X-A: \r\n".length - 1;
    const room = MAX_MESSAGE_BYTES - 100 - overhead - 1;
    expect(() => checkMessage(message({ headers, payload: "x".repeat(room) }))).not.toThrow();
    const tooLong = message({ headers, payload: `${"x".repeat(room - 1)}é` });
    expect(() => checkMessage(tooLong)).toThrow(expect.objectContaining({ code: "payload_too_large" }));
  });

  test("[BUS-1] accepts every well-formed text without NUL, and nothing else", () => {
    fc.assert(
      fc.property(fc.string({ unit: "binary" }), (payload) => {
        const fine = payload.isWellFormed() && !payload.includes("\0");
        const check = (): unknown => checkMessage(message({ payload }));
        if (fine) expect(check).not.toThrow();
        else expect(check).toThrow();
      }),
    );
    expect(() => checkMessage(message({ payload: "\uD83D" }))).toThrow();
  });
});

describe("checkStreamItem", () => {
  test("accepts a stream's subject only", () => {
    expect(() => checkStreamItem({ subject: "cg.v1r4.p.public.str.agent.a.chunk", payload: "" })).not.toThrow();
    for (const category of ["cmd.tool", "evt.agent", "rpc.gateway"]) {
      const item = { subject: `cg.v1r4.p.public.${category}.a.lease`, payload: "" };
      expect(() => checkStreamItem(item)).toThrow(expect.objectContaining({ code: "protocol_violation" }));
    }
  });

  test("refuses what is too large", () => {
    const item = { subject: "cg.v1r4.p.public.str.agent.a.part", payload: "x".repeat(MAX_MESSAGE_BYTES + 1) };
    expect(() => checkStreamItem(item)).toThrow(expect.objectContaining({ code: "payload_too_large" }));
  });
});
