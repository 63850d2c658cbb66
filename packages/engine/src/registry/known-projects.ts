// Projects that were seen a moment ago, so that a service that asks for work again and again does not have its project looked up
// each time. Deleting a project rings the registry's bell; when the ring is lost, a service waits some seconds in vain (I13).

import type { Clock } from "../ports/clock.ts";
import type { Doorbell } from "../ports/doorbell.ts";
import { createRecent } from "../recent/recent.ts";

export interface KnownProjects {
  isKnown(projectId: string): Promise<boolean>;
}

const MAX_REMEMBERED = 1_024;
const REMEMBERED_MS = 10_000;

export const createKnownProjects = (deps: {
  readonly doorbell: Doorbell;
  readonly clock: Pick<Clock, "now">;
  readonly exists: (projectId: string) => Promise<boolean>;
}): KnownProjects => {
  const seen = createRecent<{ readonly at: number }>(MAX_REMEMBERED);
  let rings = 0;
  deps.doorbell.listen("registry", () => {
    rings++;
    seen.clear();
  });
  return {
    async isKnown(projectId) {
      const at = deps.clock.now();
      const age = at - (seen.get(projectId)?.at ?? Number.NEGATIVE_INFINITY);
      if (age >= 0 && age < REMEMBERED_MS) return true;
      const before = rings;
      const exists = await deps.exists(projectId);
      if (exists && before === rings) seen.set(projectId, { at });
      return exists;
    },
  };
};
