// B1-B3: what is published, and what is not.

import { type BusMessage, MAX_MESSAGE_BYTES } from "@toolplane/bus";
import { describe, expect, test } from "vitest";
import { type CarrierHarness, createCollector, openRoom, payloadOf } from "./bus-harness.ts";

export const HEADERS = { "CG-Agent-Id": "agent-1", "CG-Tool-Call-Id": "call_7", "X-Note": 'a: b, "c" \\ d' };

export const CARRIED: readonly (readonly [string, string])[] = [
  ["JSON", '{"a":[1,2.50,"\\u0000"],"b":null}'],
  ["text beyond ASCII", "grüße \u{1F600} \u2028 \uFEFF"],
  ["line ends", "one\r\ntwo\n"],
  ["no JSON", "{not json"],
  ["nothing", ""],
  ["200 kB", "x".repeat(200_000)],
];

export const REFUSED: readonly (readonly [string, Partial<BusMessage>, string])[] = [
  ["no subject", { subject: "desk" }, "protocol_violation"],
  ["a wildcard", { subject: "cg.v1r4.p.public.cmd.tool.*.work" }, "protocol_violation"],
  ["an open end", { subject: "cg.v1r4.p.public.cmd.tool.desk.>" }, "protocol_violation"],
  ["a stream's subject", { subject: "cg.v1r4.p.public.str.agent.a.chunk" }, "protocol_violation"],
  ["a gateway's subject", { subject: "cg.v1r4.p.public.rpc.gateway.text.lease" }, "protocol_violation"],
  ["a NUL", { payload: "a\0b" }, "protocol_violation"],
  ["a lone surrogate", { payload: "a\uD800b" }, "protocol_violation"],
  ["too many bytes", { payload: "x".repeat(MAX_MESSAGE_BYTES + 1) }, "payload_too_large"],
  ["a line end in a header", { headers: { "X-A": "a\r\nX-B: b" } }, "protocol_violation"],
  ["a blank around a header", { headers: { "X-A": " a" } }, "protocol_violation"],
  ["a protocol header in another case", { headers: { "cg-agent-id": "a" } }, "protocol_violation"],
  ["a header of the transport", { headers: { "Nats-Msg-Id": "a" } }, "protocol_violation"],
  ["an empty message id", { messageId: "" }, "protocol_violation"],
];

export const publishingContract = (harness: () => CarrierHarness): void => {
  describe.each(["cmd", "evt"] as const)("publishing %s", (category) => {
    test.each(CARRIED)("[BUS-1] %s arrives byte for byte", async (_, payload) => {
      await using room = await openRoom(harness());
      const came = createCollector<BusMessage>();
      await room.consume(room.other, { category }, (delivery) => came.push(delivery));
      const message = room.message(category, payload, { headers: HEADERS, messageId: "m-1" });
      await room.one.publish([message]);
      await came.until(1);
      expect(came.items[0]).toMatchObject(message);
      expect(Object.entries(came.items[0]?.headers ?? {})).toEqual(Object.entries(HEADERS));
    });

    test("[BUS-2] what `publish` resolved for is there for a consumer of another process that comes later", async () => {
      await using room = await openRoom(harness());
      const came = createCollector<string>();
      await room.one.publish(["a", "b", "c"].map((payload) => room.message(category, payload)));
      await room.consume(room.other, { category, deliver: "all", batch: 10 }, (d) => came.push(payloadOf(d)));
      expect([...(await came.until(3))].sort()).toEqual(["a", "b", "c"]);
    });

    test("[BUS-3] one message id is one message: in a call, at once, and later", async () => {
      await using room = await openRoom(harness());
      const came = createCollector<string>();
      const twice = room.message(category, "once", { messageId: "same" });
      await room.one.publish([twice, twice]);
      await Promise.all([room.one.publish([twice]), room.other.publish([twice])]);
      await room.one.publish([room.message(category, "last")]);
      await room.consume(room.other, { category, deliver: "all", batch: 10 }, (d) => came.push(payloadOf(d)));
      await came.until(2);
      await room.waitOut(50);
      expect([...came.items].sort()).toEqual(["last", "once"]);
    });

    test("[BUS-3] another project's message id is another message", async () => {
      await using room = await openRoom(harness());
      await using neighbour = await openRoom(harness());
      const came = createCollector<string>();
      await neighbour.one.publish([neighbour.message(category, "theirs", { messageId: "taken" })]);
      await room.consume(room.one, { category }, (d) => came.push(payloadOf(d)));
      await room.one.publish([room.message(category, "ours", { messageId: "taken" })]);
      expect(await came.until(1)).toEqual(["ours"]);
    });
  });

  test.each(REFUSED)("[BUS-2] %s is refused and nothing of the call is stored", async (_, fault, code) => {
    await using room = await openRoom(harness());
    const came = createCollector<string>();
    const good = room.message("cmd", "good");
    await expect(room.one.publish([good, { ...good, ...fault }])).rejects.toMatchObject({ code });
    await room.one.publish([room.message("cmd", "after")]);
    await room.consume(room.one, { category: "cmd", batch: 10 }, (d) => came.push(payloadOf(d)));
    await came.until(1);
    await room.waitOut(20);
    expect(came.items).toEqual(["after"]);
  });
};
