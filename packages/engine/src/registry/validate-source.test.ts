import { afterAll, beforeAll, expect, test } from "vitest";
import { openRegistryWorld, type RegistryWorld } from "../../test/registry-world.ts";
import { checkSources, type SourceClaim, validateSource } from "./validate-source.ts";

let world: RegistryWorld;
const A = "proj_a";
const B = "proj_b";

beforeAll(async () => {
  world = await openRegistryWorld();
  for (const project of [A, B])
    await world.projects.createProject({ project_id: project, title: "t", bootstrap: false }, "me");
  await world.profiles.upsertProfile(A, { name: "P", worker_target: "pool" });
  for (const agent_id of ["active", "resting"]) await world.agents.upsertAgent(A, { agent_id, profile_name: "P" });
  await world.agents.deactivateAgent(A, "resting", "x");
});
afterAll(() => world[Symbol.asyncDispose]());

const claim = (agentId: string, projectId = A, sourceProject = projectId): SourceClaim => ({
  projectId,
  source: { projectId: sourceProject, agentId },
});

const CASES: readonly (readonly [string, SourceClaim, string | undefined])[] = [
  ["[UTP-6.1-E1] an active agent of the roster", claim("active"), undefined],
  ["[UTP-6.1-E2] an actor of the plane: sys.", claim("sys.pmo"), undefined],
  ["[UTP-6.1-E2] an actor of the plane: tool.", claim("tool.text"), undefined],
  ["[UTP-6.1-E3] an agent nobody knows", claim("nobody"), "invalid_source_actor"],
  ["[UTP-6.1-E3] another project's agent", claim("active", B), "invalid_source_actor"],
  ["[UTP-W17-E1] an agent that was deactivated", claim("resting"), "invalid_source_actor"],
  ["[UTP-6.1-E4] no agent at all", claim(""), "protocol_violation"],
  ["[UTP-6.1-E4] a source of another project", claim("active", A, B), "protocol_violation"],
  ["[UTP-6.1-E4] a trusted source of another project", claim("sys.pmo", A, B), "protocol_violation"],
  ["a bare prefix", claim("sys."), "invalid_source_actor"],
  ["an id that is no token", claim("a b\u0000"), "invalid_source_actor"],
];

test.each(CASES)("%s", async (_title, given, code) => {
  const outcome = validateSource(world.db, given);
  if (code === undefined) await expect(outcome).resolves.toBeUndefined();
  else await expect(outcome).rejects.toMatchObject({ code });
});

test("many at once take one statement and answer each for itself", async () => {
  const before = world.db.stats().statements;
  const outcomes = await checkSources(
    world.db,
    CASES.map(([, given]) => given),
  );
  expect(outcomes.map((error) => error?.code)).toEqual(CASES.map(([, , code]) => code));
  expect(world.db.stats().statements - before).toBe(1);
  expect(await checkSources(world.db, [claim("sys.api")])).toEqual([undefined]);
  expect(world.db.stats().statements - before).toBe(1);
});
