import type { ImportOutcome } from "@toolplane/bridges/openapi";
import { describe, expect, test } from "vitest";
import { groupReasons, type KnownTool, planImport } from "./plan-import.ts";

const tool = (toolName: string, definitionHash = "h1") =>
  ({ definition: { tool_name: toolName }, definitionHash }) as ImportOutcome["tools"][number];

const outcome = (more: Partial<ImportOutcome>): ImportOutcome => ({
  version: "3.0.0",
  found: 0,
  leftOut: [],
  tools: [],
  refused: [],
  notes: [],
  ...more,
});

const known = (toolName: string, more: Partial<KnownTool> = {}): KnownTool => ({
  toolName,
  definitionHash: "h1",
  status: "active",
  pending: undefined,
  ...more,
});

describe("[HTTP-4-2] an import and what is registered", () => {
  test("an unchanged tool is left alone; a new, a changed and a deleted one are sent", () => {
    const tools = [tool("same"), tool("new"), tool("changed", "h2"), tool("deleted")];
    const plan = planImport(outcome({ tools }), [
      known("same"),
      known("changed"),
      known("deleted", { status: "deleted" }),
    ]);
    expect(plan.uploads.map((upload) => upload.tool_name)).toEqual(["new", "changed", "deleted"]);
    expect(plan).toMatchObject({ unchanged: 1, waiting: [], deletes: [], gone: [] });
  });

  test("a tool that waits unchanged is not sent again and is still named", () => {
    const plan = planImport(outcome({ tools: [tool("a")] }), [known("a", { status: "pending" })]);
    expect(plan).toMatchObject({ uploads: [], waiting: ["a"] });
  });

  test("a tool whose operation is gone or refused stays and is named; one that the patterns leave out is deleted", () => {
    const refused = [{ operation: "GET /r", reason: "no", toolName: "refused" }];
    const plan = planImport(outcome({ tools: [tool("a")], leftOut: ["left"], refused }), [
      known("a"),
      known("gone"),
      known("refused"),
      known("left"),
      known("old", { status: "deleted" }),
    ]);
    expect(plan).toMatchObject({ uploads: [], gone: ["gone", "refused"], deletes: ["left"] });
  });
});

test("a thousand operations with one reason are one line", () => {
  const refused = Array.from({ length: 1_000 }, (_, at) => ({ operation: `GET /${at}`, reason: "why" }));
  const [group, ...others] = groupReasons(refused);
  expect(others).toEqual([]);
  expect(group).toMatchObject({ reason: "why", count: 1_000 });
  expect(group?.operations).toMatch(/^GET \/0, GET \/1, .*and 950 more$/);
});
