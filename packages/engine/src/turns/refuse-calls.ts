// Which calls of a step are refused by a limit before they are made. The step gets a failed result for each of them.

import type { ToolplaneError } from "@toolplane/protocol";
import type { Admission } from "../gates/admission.ts";

/** A call of a step; `place` names it within the flush. */
export interface AskedCall {
  readonly projectId: string;
  readonly place: string;
}

/** The limits of projects and of the plane; one question for each project. */
export const refuseCalls = async (
  admission: Pick<Admission, "admit">,
  calls: readonly AskedCall[],
): Promise<Map<string, ToolplaneError>> => {
  const refused = new Map<string, ToolplaneError>();
  for (const projectId of new Set(calls.map((call) => call.projectId))) {
    const own = calls.filter((call) => call.projectId === projectId);
    const verdicts = await admission.admit(projectId, own.length);
    for (const [index, { place }] of own.entries()) {
      const verdict = verdicts[index];
      if (verdict !== undefined) refused.set(place, verdict);
    }
  }
  return refused;
};
