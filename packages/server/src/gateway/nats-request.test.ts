// Strangers' requests: whatever comes in is a question in the subject's own name, or an error with a code.

import { GATEWAY_OPERATIONS, HEADERS, isToolplaneError } from "@toolplane/protocol";
import fc from "fast-check";
import { expect, test } from "vitest";
import { mayAnswer, readQuestion, tryOperation } from "./nats-request.ts";

const anyChar = fc.integer({ min: 0, max: 0xffff }).map((code) => String.fromCharCode(code));
const noise = fc.string({ unit: anyChar, maxLength: 20 });
/** Mostly right, or nothing would get past the first check. */
const mostly = <T>(good: fc.Arbitrary<T>, bad: fc.Arbitrary<T>): fc.Arbitrary<T> =>
  fc.oneof({ arbitrary: good, weight: 8 }, { arbitrary: bad, weight: 1 });
const token = mostly(fc.constantFrom("demo", "text", "x-1"), fc.constantFrom("*", ">", "", "a b", "é", "__proto__"));
const operation = mostly(
  fc.constantFrom<string>(...GATEWAY_OPERATIONS),
  fc.oneof(noise, fc.constantFrom("claim", "lease.now", "*", "constructor")),
);
const subject = fc
  .tuple(
    token,
    token,
    mostly(fc.constant("rpc"), fc.constant("cmd")),
    mostly(fc.constant("gateway"), noise),
    token,
    operation,
  )
  .map(([project, channel, category, component, actor, last]) =>
    ["cg", "v1r4", project, channel, category, component, actor, last].join("."),
  );
const headerName = fc.oneof(fc.constantFrom(...Object.values(HEADERS), "CG-Lease", "cg-project-id"), noise);
const headerValue = fc.oneof(fc.constantFrom("demo", "text", "x-1", "c1", ""), noise);
const CALL = { [HEADERS.toolCallId]: "c1", [HEADERS.turnId]: "t1" };
const headers = mostly(
  fc.oneof(
    fc.constant(CALL),
    headerValue.map((value) => ({ ...CALL, [HEADERS.projectId]: value })),
  ),
  fc.dictionary(headerName, headerValue),
);
const payload = fc.oneof(
  noise,
  fc.json(),
  fc.constantFrom(
    '{"lease":"l1"}',
    '{"tool_call_card_id":"c"}',
    '{"__proto__":{"lease":"l"}}',
    '{"tool_name":"t"}',
    "",
  ),
);

test("[API-5-5] any request is read as a question of its subject's project and actor, or refused with a code", () => {
  let read = 0;
  fc.assert(
    fc.property(mostly(subject, noise), headers, payload, (at, said, text) => {
      try {
        const { operation: asked, request } = readQuestion({
          subject: at,
          headers: said,
          payload: text,
          reply: "_INBOX.1",
        });
        const tokens = at.split(".");
        expect([request.projectId, request.caller.targets]).toEqual([tokens[2], [tokens[6]]]);
        expect(tokens[7]).toBe(asked);
        // A blank header says nothing.
        expect([undefined, "", tokens[2]]).toContain(said[HEADERS.projectId]?.trim());
        read += 1;
      } catch (error) {
        if (!isToolplaneError(error)) throw error;
      }
    }),
    { numRuns: 1_000 },
  );
  expect(read).toBeGreaterThan(10);
});

test("[SEC-12-3] an address for answers is the common inbox or the actor's own, nothing that only looks like it", () => {
  const at = "cg.v1r4.demo.public.rpc.gateway.text.settle";
  for (const reply of ["_INBOX.a", "_INBOX.a.b", "_INBOX_text.a", "_INBOX_text__demo.a"])
    expect(mayAnswer(reply, at), reply).toBe(true);
  for (const reply of [
    "",
    "_INBOX",
    "_INBOX_text",
    "_INBOX_textile.a",
    "_INBOX_text__shop.a",
    "_INBOX_other.a",
    "_inbox.a",
    "x._INBOX.a",
    "$JS.API.INFO",
  ])
    expect(mayAnswer(reply, at), reply).toBe(false);
  expect(mayAnswer("_INBOX_engine.a", "cg.v1r4.demo.public.rpc.gateway.engine.settle")).toBe(false);
  fc.assert(
    fc.property(fc.oneof(noise, subject), noise, (reply, other) => {
      expect(mayAnswer(reply, other) && !reply.startsWith("_INBOX")).toBe(false);
    }),
  );
});

test("[API-5-1] what a subject asks for is its last token", () => {
  for (const known of GATEWAY_OPERATIONS)
    expect(tryOperation(`cg.v1r4.demo.public.rpc.gateway.text.${known}`)).toBe(known);
  for (const text of ["settle", "cg.v1r4.demo.public.rpc.gateway.text.resettle", ""])
    expect(tryOperation(text)).toBeUndefined();
});

test("[API-5-N1] a registration with the key __proto__ is refused by name", () => {
  const register = (payload: string) =>
    readQuestion({ subject: "cg.v1r4.demo.public.rpc.gateway.text.register", headers: {}, payload } as never);
  expect(() => register('{"tool_name":"t","options":{"__proto__":1}}')).toThrow(
    'tool definition is not valid: unknown key "__proto__" at $.options',
  );
  expect(() => register('{"tool_name":"t","parameters":{"__proto__":1}}')).not.toThrow();
});
