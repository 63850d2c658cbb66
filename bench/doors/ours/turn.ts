// A whole turn of an agent over HTTP: its brain is a script that calls the tool once and finishes with what came back.

import { Pool } from "undici";
import type { Caller } from "../programs/caller.ts";
import type { ProgramConfig } from "../programs/conversation.ts";
import { openAccounts } from "./accounts.ts";
import { ARGUMENTS, CONCURRENCY, PROJECT, TOOL } from "./tool.ts";

const PROFILE = "bench";

export const agentName = (agent: number): string => `agent_${agent}`;

/** What `toolplane up` is told by its configuration: a profile with the script, and an agent for every turn in flight. */
export const turnDefinitions = {
  profile: {
    name: PROFILE,
    worker_target: "worker_generic",
    system_prompt: "You call one tool.",
    allowed_tools: [TOOL],
    llm_config: {
      provider: "script",
      script: { steps: [{ call: { tool: TOOL, arguments: ARGUMENTS } }, { finish: `{{results.${TOOL}.text}}` }] },
    },
  },
  agents: Array.from({ length: CONCURRENCY }, (_, agent) => ({ agent_id: agentName(agent), profile_name: PROFILE })),
};

interface Answer {
  readonly status?: string;
  readonly agent_turn_id?: string;
  readonly deliverable_card_id?: string | null;
}

export const openCaller = async ({ url = "", token = "", journal }: ProgramConfig): Promise<Caller> => {
  const accounts = openAccounts(journal);
  const pool = new Pool(url, { connections: CONCURRENCY });
  const headers = { authorization: `Bearer ${token}`, "content-type": "application/json" };
  const body = JSON.stringify({ instruction: ARGUMENTS.text, wait_seconds: 60 });
  // As many agents as turns in flight: no turn waits behind another turn of its own agent.
  const free = Array.from({ length: CONCURRENCY }, (_, agent) => agent).reverse();
  return {
    async call() {
      const agent = free.pop() ?? 0;
      const path = `/projects/${PROJECT}/agents/${agentName(agent)}/turns`;
      const response = await pool.request({ method: "POST", path, headers, body });
      const answer = (await response.body.json()) as Answer;
      const { status, agent_turn_id: turn, deliverable_card_id: card } = answer;
      if (status !== "success" || turn === undefined || typeof card !== "string")
        throw new RangeError(`a turn ended as ${status ?? response.statusCode}`);
      accounts.add({ what: "spawned", item: turn, turn });
      accounts.add({ what: "finished", turn, card });
      free.push(agent);
    },
    async close() {
      await pool.close();
      accounts.write();
    },
  };
};
