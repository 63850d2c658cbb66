// All clauses judged, in the order of the table.

import { type Clause, type ClauseId, clausesOver } from "../clauses.ts";
import type { Evidence } from "../evidence.ts";
import type { Troubles } from "../run-scenarios.ts";
import { fail, notApplicable, type Verdict } from "../verdict.ts";
import type { Judged } from "../verdict-lines.ts";
import { commandJudges } from "./commands.ts";
import { connectionJudges } from "./connection.ts";
import { headerJudges } from "./headers.ts";
import type { Judge } from "./judge.ts";
import { natsJudges } from "./nats.ts";
import { repeatJudges } from "./repeats.ts";
import { resultJudges } from "./results.ts";
import { twoStepJudges } from "./two-steps.ts";

export type JudgedClause = Judged<Clause>;

const JUDGES: ReadonlyMap<ClauseId, Judge> = new Map(
  Object.entries({
    ...connectionJudges,
    ...commandJudges,
    ...resultJudges,
    ...twoStepJudges,
    ...repeatJudges,
    ...natsJudges,
    ...headerJudges,
  }) as [ClauseId, Judge][],
);

const judge = (id: ClauseId, evidence: Evidence, { fatal, unseen }: Troubles): Verdict => {
  const why = fatal.get(id);
  if (why !== undefined) return fail(why);
  const unknown = unseen.get(id);
  if (unknown !== undefined) return notApplicable(unknown);
  return JUDGES.get(id)?.(evidence) ?? notApplicable("there is no judge for it");
};

export const judgeClauses = (evidence: Evidence, troubles: Troubles): readonly JudgedClause[] =>
  clausesOver(evidence.transport).map((clause) => ({ clause, verdict: judge(clause.id, evidence, troubles) }));
