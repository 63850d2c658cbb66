import fc from "fast-check";
import { expect, test } from "vitest";
import { sessionKey } from "./session-key.ts";

test("[UTP-D26] the same alias of another project, agent or host is another session", () => {
  const owner = { projectId: "p1", agentId: "helper" };
  const keys = [
    sessionKey(owner, "main"),
    sessionKey({ ...owner, projectId: "p2" }, "main"),
    sessionKey({ ...owner, agentId: "other" }, "main"),
    sessionKey({ ...owner, host: "text" }, "main"),
    sessionKey(owner, "second"),
  ];
  expect(new Set(keys).size).toBe(keys.length);
  expect(sessionKey({ ...owner }, "main")).toBe(keys[0]);
});

test("[UTP-D26] no two owners and aliases meet in one key, whatever they contain", () => {
  // Few characters and short parts, so that the same letters cut in other places come up often.
  const part = fc.string({ minLength: 1, maxLength: 3, unit: fc.constantFrom("a", "_", ",", '"') });
  const owned = fc.record({ projectId: part, agentId: part, alias: part, host: fc.option(part, { nil: undefined }) });
  fc.assert(
    fc.property(owned, owned, (a, b) => {
      const same = a.projectId === b.projectId && a.agentId === b.agentId && a.alias === b.alias && a.host === b.host;
      expect(sessionKey(a, a.alias) === sessionKey(b, b.alias)).toBe(same);
    }),
  );
});

test.each(["_", ",", '","', "."])("[UTP-D26] %j moved between agent and alias is another session", (separator) => {
  const left = sessionKey({ projectId: "p", agentId: `a${separator}b` }, "c");
  expect(left).not.toBe(sessionKey({ projectId: "p", agentId: "a" }, `b${separator}c`));
});

test.each(["", "  ", "a".repeat(201), "a\u0000b", "\ud800"])("the alias %j is refused", (alias) => {
  expect(() => sessionKey({ projectId: "p1", agentId: "a" }, alias)).toThrow(
    expect.objectContaining({ code: "bad_request" }),
  );
});
