// Steps that were dispatched before: the worker was not told (its connection or its process was lost around the commit)
// and asks again. The same step of the same turn with the same calls is answered with what was written; anything else
// under its id is not this step.

import { rawArgumentsHash } from "@toolplane/protocol";
import type { Queryer } from "../sql/database.ts";
import { bindSteps, type DoneCallRow, READ_DONE_STEPS } from "./dispatch-step.sql.ts";

import type { DispatchedStep, StepRequest } from "./step.ts";
import type { Sha256 } from "./turn-chain.ts";

const isSameStep = ({ calls }: StepRequest, rows: readonly DoneCallRow[], sha256: Sha256): boolean =>
  calls.length === rows.length &&
  calls.every(
    (ask, index) =>
      ask.toolName === rows[index]?.tool_name &&
      rawArgumentsHash(ask.arguments, sha256) === rows[index]?.arguments_hash,
  );

/** In the order asked; undefined where no such step was dispatched. */
export const findDoneSteps = async (
  tx: Queryer,
  steps: readonly StepRequest[],
  sha256: Sha256,
): Promise<readonly (DispatchedStep | undefined)[]> => {
  if (steps.length === 0) return [];
  const found = await tx.query<DoneCallRow>(READ_DONE_STEPS, bindSteps(steps.map(({ origin }) => origin)));
  const byStep = Map.groupBy(found, ({ ord }) => ord);
  return steps.map((step, index) => {
    const rows = byStep.get(index + 1) ?? [];
    const last = rows.at(-1);
    if (last === undefined || !isSameStep(step, rows, sha256)) return undefined;
    return {
      calls: rows.map((row) => ({
        toolCallId: row.tool_call_id,
        callCardId: row.call_card_id,
        toolName: row.tool_name,
      })),
      chain: { seq: last.chain_seq, hash: last.chain_hash },
    };
  });
};
