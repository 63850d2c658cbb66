// The limits that refuse new calls, in one place: those of projects and of the plane (admission.ts) and the breakers of tools and targets.

import { type Admission, type AdmissionDeps, createAdmission } from "./admission.ts";
import { type Breakers, type BreakersDeps, createBreakers } from "./breakers.ts";

export interface Limits {
  readonly admission: Admission;
  readonly breakers: Breakers;
}

export const createLimits = (deps: AdmissionDeps & BreakersDeps): Limits => {
  const admission = createAdmission(deps);
  return { admission, breakers: createBreakers({ ...deps, limitsOf: admission.limitsOf }) };
};
