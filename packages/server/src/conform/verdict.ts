// A clause's verdict, with its reason in one sentence.

export type Outcome = "pass" | "fail" | "not-applicable";

export interface Verdict {
  readonly outcome: Outcome;
  readonly reason: string;
}

export const pass = (reason: string): Verdict => ({ outcome: "pass", reason });
export const fail = (reason: string): Verdict => ({ outcome: "fail", reason });
export const notApplicable = (reason: string): Verdict => ({ outcome: "not-applicable", reason });

/** The first fault that is found, or a pass; not applicable when there was nothing to look at. */
export const judgeEach = <T>(
  items: readonly T[],
  findFault: (item: T) => string | undefined,
  said: { readonly good: string; readonly none: string },
): Verdict => {
  if (items.length === 0) return notApplicable(said.none);
  for (const item of items) {
    const fault = findFault(item);
    if (fault !== undefined) return fail(fault);
  }
  return pass(said.good);
};
