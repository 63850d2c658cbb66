// Callers that wait for calls to settle. A waiting caller gets the result together with the news that its call ended: from the
// settlement that this process committed, or, after a ring from another process, from one statement about all waiting calls. No caller
// reads its call again.

import type { ToolResultContent } from "@toolplane/protocol";
import type { Clock } from "../ports/clock.ts";
import type { Doorbell } from "../ports/doorbell.ts";
import type { Queryer } from "../sql/database.ts";
import { createEndWatch, type EndWatch } from "../waiting/end-watch.ts";
import { type CallFacts, type CallKey, type CallStatus, callKey } from "./call.ts";
import { bindKeys, factsOf, READ_SETTLED, type SettledCallRow } from "./read.sql.ts";

export interface SettledCall {
  readonly facts: CallFacts;
  readonly status: CallStatus;
  readonly resultCardId: string | null;
  readonly errorCode: string | null;
  /** Null when it is not known here. */
  readonly cardBody: string | null;
  readonly content?: ToolResultContent | undefined;
}

export interface SettleWatch extends Omit<EndWatch<CallKey, SettledCall>, "tell"> {
  /** Called after a commit of this process. */
  settled(settled: SettledCall): void;
}

const settledOf = (row: SettledCallRow): SettledCall => ({
  facts: factsOf(row),
  status: row.status,
  resultCardId: row.result_card_id,
  errorCode: row.error_code,
  cardBody: row.card_body,
});

export const createSettleWatch = (deps: {
  readonly db: Queryer;
  readonly doorbell: Doorbell;
  readonly clock: Clock;
}): SettleWatch => {
  const { tell, ...watch } = createEndWatch<CallKey, SettledCall>({
    ...deps,
    rungBy: "settled",
    nameOf: callKey,
    findOver: async (keys) =>
      (await deps.db.query<SettledCallRow>(READ_SETTLED, bindKeys(keys))).map((row) => {
        const news = settledOf(row);
        return { key: news.facts, news };
      }),
  });
  return { ...watch, settled: (settled) => tell(settled.facts, settled) };
};
