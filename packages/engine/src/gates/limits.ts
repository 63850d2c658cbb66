// The limits, in one place: those that refuse new calls, of projects and of the plane (admission.ts) and the breakers of tools and targets;
// and what the limits of a project do now, for people.

import { type Admission, type AdmissionDeps, createAdmission } from "./admission.ts";
import { type Breakers, type BreakersDeps, createBreakers } from "./breakers.ts";
import { createLimitReads, type LimitReads } from "./limit-reads.ts";

export interface Limits {
  readonly admission: Admission;
  readonly breakers: Breakers;
  readonly limitReads: LimitReads;
}

export const createLimits = (deps: AdmissionDeps & BreakersDeps): Limits => {
  const admission = createAdmission(deps);
  return {
    admission,
    breakers: createBreakers({ ...deps, limitsOf: admission.limitsOf }),
    limitReads: createLimitReads(deps.db, admission.openCalls),
  };
};
