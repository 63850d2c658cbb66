import { describe, expect, test } from "vitest";
import type { ToolDefinition } from "../tools/definition.ts";
import { definitionText } from "../tools/definition-hash.ts";
import { planToolUpsert, type SourcedDefinition } from "./tool-upsert.ts";

const definition: ToolDefinition = {
  tool_name: "search",
  description: "Searches.",
  parameters: {},
  target_subject: "cg.v1r4.{project_id}.{channel_id}.cmd.tool.web.search",
  after_execution: "suspend",
  options: {},
};
const sourced = (change: Partial<ToolDefinition> = {}, source?: string): SourcedDefinition => {
  const changed = { ...definition, ...change };
  return { definition: changed, hash: definitionText(changed), source };
};
const elsewhere = { target_subject: "cg.v1r4.{project_id}.{channel_id}.cmd.tool.other.search" };

describe("planToolUpsert", () => {
  test("[API-4-R1] a new name is created as version 1", () => {
    expect(planToolUpsert(undefined, sourced())).toEqual({ outcome: "created", version: 1 });
  });

  test("[API-4-R1] the same definition changes nothing", () => {
    expect(planToolUpsert({ ...sourced(), version: 4 }, sourced())).toEqual({ outcome: "unchanged", version: 4 });
  });

  test("[UTP-5.1-3] [API-4-R1] [SEC-10-R6] another definition replaces all of it as the next version and says what differs", () => {
    const rate = (limit: number) => ({ rate: { limit, per_seconds: 1 } });
    const known = sourced({ options: { ...rate(1), concurrency: 2, timeout_seconds: 5 } });
    const incoming = sourced({
      description: "Searches the web.",
      options: { ...rate(2), retry: "safe", timeout_seconds: 5 },
    });
    expect(planToolUpsert({ ...known, version: 4 }, incoming)).toEqual({
      outcome: "replaced",
      version: 5,
      changed: ["description", "options.concurrency", "options.rate", "options.retry"],
    });
  });

  test("[API-3-R2] two sources of one name are a conflict that names both, even if they agree", () => {
    const plan = planToolUpsert({ ...sourced({}, "petstore"), version: 1 }, sourced({}, "tools/search.yaml"));
    expect(plan).toEqual({
      outcome: "conflict",
      message: "search is defined by petstore and by tools/search.yaml: choose another name in one of them",
    });
  });

  test.each([
    ["a source may redefine its own tool", "petstore", "petstore", elsewhere, "replaced"],
    ["a person may take over a name", "petstore", undefined, elsewhere, "replaced"],
    ["[API-6-R1] a service may serve a name of its target", undefined, "service", { description: "x" }, "replaced"],
    ["[API-6-R1] a service may not move a name to its target", undefined, "service", elsewhere, "conflict"],
  ] as const)("%s", (_title, before, after, change, outcome) => {
    expect(planToolUpsert({ ...sourced({}, before), version: 1 }, sourced(change, after)).outcome).toBe(outcome);
  });
});
