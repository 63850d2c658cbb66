// Who may send: `sys.` and `tool.` ids are actors of the plane itself; every other source must be an active agent of the
// roster of the project it speaks to.

import { codeOf, startTestEngine, type TestEngine } from "@toolplane/testkit";
import { afterAll, beforeAll, expect, test } from "vitest";

let t: TestEngine;

beforeAll(async () => {
  t = await startTestEngine();
  const { projects, profiles, agents } = t.engine;
  await projects.createProject({ project_id: "other", title: "t", bootstrap: false }, "me");
  for (const project of [t.projectId, "other"])
    await profiles.upsertProfile(project, { name: "P", worker_target: "pool" });
  for (const agent_id of ["active", "resting"]) await agents.upsertAgent(t.projectId, { agent_id, profile_name: "P" });
  await agents.upsertAgent("other", { agent_id: "stranger", profile_name: "P" });
  await agents.deactivateAgent(t.projectId, "resting", "x");
});
afterAll(() => t[Symbol.asyncDispose]());

const CASES: readonly (readonly [string, string, string])[] = [
  ["[UTP-6.1-E1] an active agent of the roster", "active", "no error"],
  ["[UTP-6.1-E2] an actor of the plane: sys.", "sys.pmo", "no error"],
  ["[UTP-6.1-E2] an actor of the plane: tool.", "tool.text", "no error"],
  ["[UTP-6.1-E3] an agent nobody knows", "nobody", "invalid_source_actor"],
  ["[UTP-6.1-E3] another project's agent", "stranger", "invalid_source_actor"],
  ["[UTP-W17-E1] an agent that was deactivated", "resting", "invalid_source_actor"],
];

test.each(CASES)("%s asks for a call", async (_title, agentId, code) => {
  const asked = t.engine.calls.dispatch({ projectId: t.projectId, toolName: "safe", arguments: {}, agentId });
  expect(await codeOf(asked)).toBe(code);
});

test.each(CASES)("%s gives an agent a turn", async (_title, sourceAgentId, code) => {
  const context = { instruction: "go" };
  const asked = t.engine.turns.spawn({ projectId: t.projectId, agentId: "active", sourceAgentId, context });
  expect(await codeOf(asked)).toBe(code);
});
