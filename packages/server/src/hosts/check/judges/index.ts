// Every clause with its judge; a clause without one does not compile.

import type { Judged } from "../../../conform/verdict-lines.ts";
import { HOST_CLAUSES, type HostClause, type HostClauseId } from "../clauses.ts";
import type { HostEvidence } from "../evidence.ts";
import { faultJudges } from "./faults.ts";
import { identityJudges } from "./identity.ts";
import type { Judge } from "./judge.ts";
import { lifeJudges } from "./life.ts";
import { methodJudges } from "./methods.ts";
import { wireJudges } from "./wire.ts";

export type JudgedHostClause = Judged<HostClause>;

const JUDGES = { ...wireJudges, ...methodJudges, ...faultJudges, ...lifeJudges, ...identityJudges } as Record<
  HostClauseId,
  Judge
>;

export const judgeHost = (evidence: HostEvidence): readonly JudgedHostClause[] =>
  HOST_CLAUSES.map((clause) => ({ clause, verdict: JUDGES[clause.id](evidence) }));
