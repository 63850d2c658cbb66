// Strangers' messages: whatever comes in, the boundary answers with a context or with an error that has a code.

import fc from "fast-check";
import { expect, test } from "vitest";
import { isToolplaneError } from "../errors/toolplane-error.ts";
import { adaptLegacyRequest } from "../legacy/v1r3.ts";
import { formatSubject, tryParseSubject } from "../subjects/subject.ts";
import { CONTROL_FIELDS, payloadObject } from "./control-fields.ts";
import { egress } from "./egress.ts";
import type { RawHeaders } from "./header-map.ts";
import { HEADER_NAMES } from "./header-names.ts";
import { headersFromHttp } from "./http-headers.ts";
import { ingress } from "./ingress.ts";
import { type InboxRow, replay } from "./replay.ts";

const ids = { traceId: () => "1".repeat(32), spanId: () => "2".repeat(16) };
const GOOD = ["cg", "v1r4", "demo", "public", "cmd", "tool", "text", "run"];
const TRACEPARENT = `00-${"a".repeat(32)}-${"b".repeat(16)}-01`;

const anyChar = fc.integer({ min: 0, max: 0xffff }).map((code) => String.fromCharCode(code));
const noise = fc.string({ unit: anyChar, maxLength: 12 });
const hostile = fc.constantFrom(
  "",
  " ",
  "*",
  ">",
  "a.b",
  "a\r\nb",
  "é",
  "-1",
  "1e9",
  "__proto__",
  "constructor",
  "{agent_id}",
  "0".repeat(60),
);
const idLike = fc.constantFrom(
  "helper",
  "turn_1",
  "demo",
  "public",
  "3",
  "0",
  TRACEPARENT,
  TRACEPARENT.toUpperCase(),
  "text",
);
const value = fc.oneof({ weight: 3, arbitrary: idLike }, hostile, noise, fc.anything());

/** Mostly right, with one or two tokens replaced, so that checks behind the first one are reached too. */
const subject = fc.oneof(
  fc.constant(GOOD.join(".")),
  fc
    .tuple(
      fc.nat({ max: 8 }),
      fc.oneof(hostile, noise, fc.constantFrom("evt", "str", "rpc", "agent", "gateway", "wakeup", "v1r3")),
    )
    .map(([at, text]) => {
      const tokens = [...GOOD];
      tokens[at] = text;
      return tokens.join(".");
    }),
  fc.constantFrom(
    "cg.v1r4.demo.public.evt.agent.helper.task",
    "cg.v1r4.demo.public.cmd.agent.pool.wakeup",
    "cg.v1r3.demo.public.cmd.tool.text.run",
  ),
  noise,
);
const headers = fc.oneof(
  fc.dictionary(fc.oneof({ weight: 4, arbitrary: fc.constantFrom<string>(...HEADER_NAMES) }, hostile, noise), value, {
    maxKeys: 8,
  }),
  fc.anything(),
);
const payload = fc.oneof(
  fc.dictionary(fc.oneof(fc.constantFrom(...CONTROL_FIELDS, "status", "__proto__", "CG-x"), noise), value, {
    maxKeys: 4,
  }),
  fc.anything(),
);

/** How often each outcome was seen; a run that never gets through, or never gets stopped, proves nothing. */
const tally = () => {
  const seen = { through: 0, stopped: 0 };
  const attempt = (run: () => void): void => {
    try {
      run();
      seen.through += 1;
    } catch (error) {
      if (!isToolplaneError(error)) throw error;
      expect(error.code).toBe("protocol_violation");
      seen.stopped += 1;
    }
  };
  return { seen, attempt };
};

test("[UTP-2.3-14] 10,000 malformed messages: ingress throws nothing but ToolplaneError", () => {
  const { seen, attempt } = tally();
  fc.assert(
    fc.property(subject, headers, payload, (text, raw, body) => {
      attempt(() => {
        const parsed = tryParseSubject(text);
        const { context, payload: kept } = ingress({ subject: parsed, headers: raw as RawHeaders, payload: body }, ids);
        // What came through is sound: it can be written out again, and tells the same identity.
        expect(parsed === undefined ? "" : formatSubject(parsed)).toBe(text);
        expect(egress(context, ids, "topology")).toMatchObject({ "CG-Agent-Id": context.agentId });
        if (parsed?.category !== "rpc")
          expect(CONTROL_FIELDS.filter((field) => Object.hasOwn(kept, field))).toEqual([]);
      });
    }),
    { numRuns: 10_000 },
  );
  expect(seen.through).toBeGreaterThan(100);
  expect(seen.stopped).toBeGreaterThan(1000);
});

test("[UTP-2.3-14] malformed rows, HTTP headers and older messages: the same", () => {
  const { seen, attempt } = tally();
  const rows = fc.record({
    inboxId: value,
    messageType: fc.constantFrom("turn", "tool_result", "stop"),
    projectId: value,
    agentId: value,
    channelId: value,
    agentTurnId: value,
    turnEpoch: value,
    correlationId: value,
    contextHeaders: fc.oneof(fc.constant({ traceparent: TRACEPARENT, "CG-Recursion-Depth": 1 }), headers, noise),
    payload: fc.oneof(fc.constant({}), payload),
  });
  fc.assert(
    fc.property(rows, subject, headers, payload, (row, text, raw, body) => {
      attempt(() => replay(row as unknown as InboxRow, ids));
      attempt(() => headersFromHttp(raw as RawHeaders));
      const identity = payloadObject(body);
      attempt(() => adaptLegacyRequest({ subject: text, headers: raw as RawHeaders, identity, payload: body }, ids));
    }),
    { numRuns: 3000 },
  );
  expect(seen.through).toBeGreaterThan(100);
  expect(seen.stopped).toBeGreaterThan(1000);
});
