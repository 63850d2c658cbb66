import { expect, test } from "vitest";
import { createFakeTerminal } from "../../../test/cli/fake-terminal.ts";

test("audit list shows whose token it was", async () => {
  const entry = { at: "2030-01-01T00:00:00Z", act: "tool.accepted", subject: "pay", actor: "Eve", role: "operator" };
  const items = [
    { ...entry, token_id: "0123456789ab", door: "http", detail: { version: 3, weakens: ["options.approval"] } },
    { ...entry, act: "tool.applied", token_id: null, door: "config", detail: {} },
  ];
  const terminal = createFakeTerminal({ answer: () => ({ body: { items, next_cursor: null } }) });
  expect(await terminal.run("audit", "list")).toBe(0);
  const [head = "", first = "", second = ""] = terminal.out().split("\n");
  expect(head.split(/ {2,}/)).toEqual(["AT", "ACT", "SUBJECT", "ACTOR", "ROLE", "TOKEN", "DOOR", "DETAIL"]);
  expect(first).toMatch(/ Eve +operator +0123456789ab +http +\{"version":3,"weakens":\["options.approval"\]\}$/);
  expect(second).toMatch(/ Eve +operator +- +config +-$/);
});
