import { Ajv2020 } from "ajv/dist/2020.js";
import { describe, expect, test } from "vitest";
import { resolveOptions } from "../tools/options.ts";
import { parseToolDefinition } from "../tools/parse-definition.ts";
import { isExternalTool } from "../tools/target-subject.ts";
import { PMO_TOOL_NAMES } from "../tools/tool-name.ts";
import { bootstrapTools, FORK_JOIN_DEADLINE_SECONDS } from "./bootstrap-tools.ts";

const parsed = bootstrapTools({ bundledTarget: "bundled" }).map((upload) =>
  parseToolDefinition(upload, {
    projectId: "p1",
    version: "v1r4",
    internal: true,
    compileSchema: (schema) => {
      new Ajv2020({ strict: true }).compile(schema);
      return () => [];
    },
  }),
);
const byName = new Map(parsed.map((definition) => [definition.tool_name, definition]));

describe("[UTP-5.8-5] the tools of a new project", () => {
  test("are the project manager's five and emit_marker, all suspend, all pass registration", () => {
    expect([...byName.keys()].sort()).toEqual([...PMO_TOOL_NAMES, "emit_marker"].sort());
    expect(new Set(parsed.map(({ after_execution }) => after_execution))).toEqual(new Set(["suspend"]));
  });

  test("the five go to the project manager and are hidden; emit_marker is an ordinary tool", () => {
    for (const name of PMO_TOOL_NAMES) {
      expect(byName.get(name)?.target_subject).toBe(`cg.v1r4.{project_id}.{channel_id}.cmd.sys.pmo.internal.${name}`);
    }
    expect(parsed.filter(isExternalTool).map(({ tool_name }) => tool_name)).toEqual(["emit_marker"]);
  });

  test("user interfaces may call delegate_async and provision_agent only; emit_marker has a fixed kind", () => {
    const forUi = parsed.filter(({ options }) => resolveOptions(options).uiAllowed).map(({ tool_name }) => tool_name);
    expect(forUi.sort()).toEqual(["delegate_async", "provision_agent"]);
    expect(byName.get("emit_marker")?.options.args?.fixed).toEqual({ marker_type: "adoptable_recommendation" });
  });

  test("[UTP-W27-R1] all of them may run again after a crash", () => {
    for (const { options } of parsed) expect(resolveOptions(options).retry).toBe("safe");
  });

  test("[UTP-W26-R1] fork_join outlives the deadline it gives its children", () => {
    const options = byName.get("fork_join")?.options ?? {};
    expect(resolveOptions(options).timeoutSeconds).toBeGreaterThan(FORK_JOIN_DEADLINE_SECONDS);
  });
});
