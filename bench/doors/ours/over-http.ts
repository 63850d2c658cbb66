// A caller over HTTP that sends one request per call and waits in it for the result.

import { Pool } from "undici";
import type { Caller } from "../programs/caller.ts";
import type { ProgramConfig } from "../programs/conversation.ts";
import { answeredLines, openAccounts } from "./accounts.ts";
import { ARGUMENTS, CONCURRENCY, PROJECT, TOOL } from "./tool.ts";

interface Answer {
  readonly status?: string;
  readonly tool_call_id?: string;
  readonly tool_result_card_id?: string;
}

export const openCaller = async ({ url = "", token = "", journal }: ProgramConfig): Promise<Caller> => {
  const accounts = openAccounts(journal);
  const pool = new Pool(url, { connections: CONCURRENCY });
  const request = {
    method: "POST",
    path: `/projects/${PROJECT}/calls`,
    headers: { authorization: `Bearer ${token}`, "content-type": "application/json" },
    body: JSON.stringify({ tool_name: TOOL, arguments: ARGUMENTS, wait_seconds: 60 }),
  } as const;
  return {
    async call() {
      const response = await pool.request(request);
      const { status, tool_call_id: call, tool_result_card_id: card } = (await response.body.json()) as Answer;
      if (status !== "success" || call === undefined || card === undefined)
        throw new RangeError(`a call ended as ${status ?? response.statusCode}`);
      for (const line of answeredLines({ project: PROJECT, call, card })) accounts.add(line);
    },
    async close() {
      await pool.close();
      accounts.write();
    },
  };
};
