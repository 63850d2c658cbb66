// What is asked of a plane under chaos: direct calls and turns of agents, each once, under a key of its own; what was
// acknowledged is written to the journal.

import { appendFileSync } from "node:fs";
import type { JsonObject } from "@toolplane/protocol";
import type { JournalLine } from "@toolplane/testkit";
import { type ChaosPlane, PROJECT } from "./chaos-plane.ts";

export interface Load {
  readonly calls: number;
  readonly turns: number;
}

/** Every so many turns is one of a team of two. */
export const TEAM_EVERY = 5;
/** Turns of one agent run one after the other. */
const AGENTS = 25;
const AT_ONCE = 12;
const LOST = "failed/outcome_unknown";
const GIVEN_UP = "failed/upstream_unavailable";

const script = (steps: readonly JsonObject[]): JsonObject => ({ provider: "script", script: { steps: [...steps] } });

const HAND: JsonObject = {
  name: "chaos_hand",
  description: "Uses one tool",
  worker_target: "worker_generic",
  system_prompt: "A hand.",
  allowed_tools: ["nats_tools_safe", "http_tools_safe"],
  llm_config: script([{ call: { tool: "http_tools_safe", arguments: { n: 1 } } }, { finish: "a hand is done" }]),
};

const task = (instruction: string): JsonObject => ({
  target_strategy: "new",
  target_ref: "chaos_hand",
  instruction,
});

const LEAD: JsonObject = {
  name: "chaos_lead",
  description: "Uses two tools at once, or two agents",
  worker_target: "worker_generic",
  system_prompt: "A lead.",
  allowed_tools: ["nats_tools_safe", "http_tools_safe", "fork_join"],
  delegation_policy: { target_profiles: ["chaos_hand"] },
  llm_config: {
    provider: "script",
    script: {
      cases: [
        {
          match: ["team"],
          steps: [
            { call: { tool: "fork_join", arguments: { tasks: [task("first"), task("second")] } } },
            { finish: "the team is done" },
          ],
        },
        {
          steps: [
            {
              call: [
                { tool: "nats_tools_safe", arguments: { n: 1 } },
                { tool: "http_tools_safe", arguments: { n: 2 } },
              ],
            },
            { finish: "it is done" },
          ],
        },
      ],
    },
  },
};

const TOOLS = [
  { name: "nats_tools_safe", outcomes: ["success", GIVEN_UP] },
  { name: "http_tools_unsafe", outcomes: ["success", LOST] },
  { name: "http_tools_safe", outcomes: ["success", GIVEN_UP] },
  { name: "nats_tools_unsafe", outcomes: ["success", LOST] },
] as const;

const inTurns = async (count: number, atOnce: number, work: (n: number) => Promise<void>): Promise<void> => {
  let next = 0;
  const lane = async (): Promise<void> => {
    for (let n = next++; n < count; n = next++) await work(n);
  };
  await Promise.all(Array.from({ length: Math.min(atOnce, count) }, lane));
};

export const prepareAgents = async (plane: ChaosPlane): Promise<void> => {
  for (const profile of [HAND, LEAD]) await plane.insist("POST", "/profiles", profile);
  for (let n = 0; n < AGENTS; n += 1)
    await plane.insist("POST", "/agents", { agent_id: `lead${n}`, profile_name: "chaos_lead" });
};

/** Resolves when everything was acknowledged; calls and turns are still under way then. */
export const askForAll = async (plane: ChaosPlane, { calls, turns }: Load): Promise<void> => {
  const write = (line: JournalLine): void => appendFileSync(plane.journal, `${JSON.stringify(line)}\n`);
  const askCall = async (n: number): Promise<void> => {
    const { name, outcomes } = TOOLS[n % TOOLS.length] ?? TOOLS[0];
    const item = `call-${n}`;
    write({ what: "asked", item });
    const made = await plane.insist<{ readonly tool_call_id: string }>("POST", "/calls", {
      tool_name: name,
      arguments: { n },
      idempotency_key: item,
    });
    write({ what: "accepted", item, project: PROJECT, call: made.tool_call_id, outcomes });
  };
  const askTurn = async (n: number): Promise<void> => {
    await plane.insist("POST", `/agents/lead${n % AGENTS}/turns`, {
      instruction: n % TEAM_EVERY === 0 ? "a team" : "alone",
      correlation_id: `turn-${n}`,
    });
  };
  await Promise.all([inTurns(calls, AT_ONCE, askCall), inTurns(turns, 2, askTurn)]);
};
