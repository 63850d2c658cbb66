// Two projects with two agents each, and everything an agent can leave behind: a turn with its boxes and cards, a settled
// call, a waiting one, events. Each owner's texts carry a mark of its own, so that an answer which shows them is found.

import type { Role } from "@toolplane/engine";
import { createThoughtCard } from "@toolplane/protocol/agents";
import { meddle, resultFor, toolUpload } from "@toolplane/testkit";
import { type HttpStack, startHttpStack } from "../http-stack.ts";

export const PROJECTS = ["demo", "other"] as const;
export const AGENTS = ["ann", "bob"] as const;
export type Project = (typeof PROJECTS)[number];
export type Agent = (typeof AGENTS)[number];

/** What one agent of one project has. */
export interface Belongings {
  /** In the instruction, the arguments and the result; in nothing of anybody else. */
  readonly mark: string;
  readonly turn: string;
  /** Its context box. */
  readonly box: string;
  /** The card with the instruction. */
  readonly card: string;
  /** Settled. */
  readonly call: string;
  /** Runs, for target `test`. */
  readonly running: string;
  readonly lease: string;
  /** Runs, for target `elsewhere`. */
  readonly foreign: string;
  readonly resultCard: string;
  /** The output box of a helper that every agent of the project gave work to; it holds a card with each one's mark. */
  readonly shared: string;
  /** All ids that name something of this owner. */
  readonly ids: readonly string[];
}

export interface World extends AsyncDisposable {
  readonly http: HttpStack;
  /** `admin`, or `<project> <role>` with the agent for role agent: `demo agent ann`. */
  readonly tokens: ReadonlyMap<string, string>;
  of(project: Project, agent: Agent): Belongings;
}

const TOOLS = [
  { name: "safe", options: { retry: "safe" } },
  { name: "hidden", options: { retry: "safe" } },
  { name: "alien", target: "elsewhere", options: { retry: "safe" } },
] as const;

const llm_config = { provider: "script", script: { steps: [{ finish: "done" }] } };

const seedProject = async (http: HttpStack, project: Project): Promise<void> => {
  const { engine } = http.t;
  if (project !== "demo")
    await engine.projects.createProject({ project_id: project, title: project, bootstrap: false }, "sys.test");
  for (const tool of TOOLS) await engine.tools.upsertTool(project, toolUpload(tool));
  const profiles = [
    {
      name: "plain",
      allowed_tools: ["safe", "alien"],
      delegation_policy: { target_profiles: ["helpers"] },
    },
    { name: "helpers", allowed_tools: [] },
  ];
  for (const profile of profiles)
    await engine.profiles.upsertProfile(project, { ...profile, worker_target: "crew", llm_config });
  for (const agent of AGENTS) await engine.agents.upsertAgent(project, { agent_id: agent, profile_name: "plain" });
  await engine.agents.upsertAgent(project, { agent_id: "helper", profile_name: "helpers" });
};

const makeTokens = async ({ t: { engine }, admin }: HttpStack): Promise<Map<string, string>> => {
  const tokens = new Map([["admin", admin]]);
  const make = async (name: string, role: Role, more: { actorId?: string; targets?: readonly string[] } = {}) => {
    const projectId = name.split(" ")[0] ?? "";
    tokens.set(name, (await engine.tokens.create({ role, projectId, ...more })).secret);
  };
  for (const project of PROJECTS) {
    for (const role of ["operator", "viewer"] as const) await make(`${project} ${role}`, role);
    await make(`${project} tool`, "tool", { targets: ["test"] });
    for (const actorId of AGENTS) await make(`${project} agent ${actorId}`, "agent", { actorId });
    await make(`${project} agent`, "agent");
  }
  return tokens;
};

type Unshared = Omit<Belongings, "shared">;

/** A turn of the helper for each, one after the other, into the same box: as delegation to a known agent leaves it. */
const seedShared = async (http: HttpStack, project: Project, owners: ReadonlyMap<Agent, Unshared>): Promise<string> => {
  const { engine } = http.t;
  let outputBoxId: string | undefined;
  for (const [agentId, { turn, mark }] of owners) {
    const helped = await engine.turns.spawn({
      projectId: project,
      agentId: "helper",
      sourceAgentId: "sys.pmo",
      lineage: { agentId, agentTurnId: turn, stepId: "step_1" },
      context: { instruction: "help" },
      outputBoxId,
    });
    outputBoxId = helped.outputBoxId;
    const card = createThoughtCard({
      cardId: `thought-for-${agentId}-in-${project}`,
      projectId: project,
      createdAt: "2026-01-01T00:00:00.000Z",
      authorId: "helper",
      agentTurnId: helped.agentTurnId,
      text: `about ${mark}`,
    });
    await engine.cards.putCards(project, [card]);
    await meddle(http.t, "appendToBox", [project, outputBoxId, card.card_id]);
    // The next one cannot write into it before this one has ended.
    await http.send("POST", `/projects/${project}/turns/${helped.agentTurnId}/stop`, {});
  }
  return outputBoxId ?? "";
};

const seedBelongings = async (http: HttpStack, project: Project, agentId: Agent): Promise<Unshared> => {
  const { engine } = http.t;
  const mark = `mark-of-${agentId}-in-${project}`;
  const spawned = await engine.turns.spawn({
    projectId: project,
    agentId,
    sourceAgentId: "sys.api",
    context: { instruction: `keep ${mark}` },
  });
  const box = await engine.boxes.loadBox(project, spawned.contextBoxId);
  const callOf = async (toolName: string, target: string) => {
    await engine.calls.dispatch({ projectId: project, toolName, agentId, arguments: { note: mark } });
    const [leased] = await engine.calls.claim({ projectId: project, target, holder: "seed", max: 1 }, 0);
    if (leased === undefined) throw new Error("the seed's call was not there to claim");
    return leased;
  };
  const done = await callOf("safe", "test");
  const settled = await engine.calls.settle(resultFor(done, { result: { note: mark } }));
  const running = await callOf("safe", "test");
  const foreign = await callOf("alien", "elsewhere");
  const card = box?.cardIds[0] ?? "";
  return {
    mark,
    turn: spawned.agentTurnId,
    box: spawned.contextBoxId,
    card,
    call: done.facts.toolCallId,
    running: running.facts.toolCallId,
    lease: running.lease.id,
    foreign: foreign.facts.toolCallId,
    resultCard: settled.toolResultCardId ?? "",
    ids: [
      ...[spawned.agentTurnId, spawned.contextBoxId, spawned.outputBoxId, card],
      ...[done, running, foreign].flatMap(({ facts }) => [facts.toolCallId, facts.callCardId]),
      settled.toolResultCardId ?? "",
    ],
  };
};

export const startWorld = async (): Promise<World> => {
  const http = await startHttpStack({ tools: [] });
  for (const project of PROJECTS) await seedProject(http, project);
  const tokens = await makeTokens(http);
  const belongings = new Map<string, Belongings>();
  for (const project of PROJECTS) {
    const owners = new Map<Agent, Unshared>();
    for (const agent of AGENTS) owners.set(agent, await seedBelongings(http, project, agent));
    const shared = await seedShared(http, project, owners);
    for (const [agent, owned] of owners) belongings.set(`${project} ${agent}`, { ...owned, shared });
  }
  return {
    http,
    tokens,
    of: (project, agent) => belongings.get(`${project} ${agent}`) as Belongings,
    [Symbol.asyncDispose]: () => http[Symbol.asyncDispose](),
  };
};
