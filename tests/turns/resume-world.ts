// What the tests of resuming look at and start from.

import { meddle } from "@toolplane/testkit";
import { call, commit, type TurnWorld, takeTurn } from "./turn-world.ts";

export const leaseAll = (t: TurnWorld) =>
  t.engine.calls.claim({ projectId: t.projectId, target: "test", holder: "h", max: 256 });

export const inbox = (t: TurnWorld) =>
  t.rows<{ status: string; reason: string | null; error: string | null; retries: number }>(
    "select status, defer_reason as reason, last_error as error, retry_count as retries from state.inbox where message_type in ('tool_result', 'timeout') order by created_at, inbox_id",
  );

export const head = async (t: TurnWorld) =>
  (
    await t.rows<{ status: string; epoch: number; waiting: number }>(
      "select status, turn_epoch::int as epoch, waiting_tool_count as waiting from state.heads where agent_id = 'helper'",
    )
  )[0];

export const dueNow = (t: TurnWorld) => meddle(t, "retryNow");

export const suspend = async (t: TurnWorld, ...tools: string[]) => {
  const work = await takeTurn(t);
  const step = await commit(t, work, ...tools.map((name) => call(name)));
  return { work, step };
};
