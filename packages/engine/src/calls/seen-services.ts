// The services that asked for work lately. A service that fetches its commands from a bus asks the bus; it says from time to time that it is here.
// They are listed for the question whether a target is served. Kept in memory: only people ask, and a
// living service asks for work again within seconds. A service that ends its request itself, as one that stops does, is forgotten
// at once. The log says when a service came and when it went.

import { type Log, silentLog } from "../ports/log.ts";
import { createRecent } from "../recent/recent.ts";

export interface SeenService {
  readonly projectId: string;
  readonly target: string;
  readonly holder: string;
  readonly lastSeenMs: number;
  /** The definitions it says it runs; undefined when it says nothing. */
  readonly definitions?: readonly string[] | undefined;
  /** It is given only calls that may run again (handover.ts, HO5). */
  readonly safeOnly?: boolean | undefined;
}

export type SaidOfService = Pick<SeenService, "definitions" | "safeOnly">;

export interface SeenServices {
  /** It asks; returned is the end of that, with or without the service having gone away meanwhile. */
  saw(projectId: string, target: string, holder: string, said?: SaidOfService | undefined): (gone: boolean) => void;
  /** Services that asked within the last minute: a long poll comes back at least that often. */
  list(projectId: string, target?: string): readonly SeenService[];
  /** Services that asked within the last hour and do so no more. */
  gone(projectId: string): readonly SeenService[];
}

/** In place of a project: the service takes calls of all projects. No project can have this id. */
export const EVERY_PROJECT = "*";

const RECENT_MS = 60_000;
const MAX_SEEN = 10_000;
/** For how long, and of how many, a person is told that they are gone. */
const GONE_MS = 3_600_000;
const MAX_GONE = 1_000;

type Seen = SeenService & { readonly asking: number };

const fieldsOf = ({ projectId, target, holder }: SeenService) => ({
  ...(projectId === EVERY_PROJECT ? {} : { projectId }),
  target,
  service: holder,
});

export const createSeenServices = (now: () => number, log: Log = silentLog): SeenServices => {
  const seen = new Map<string, Seen>();
  const gone = createRecent<SeenService>(MAX_GONE);
  const leave = (key: string, service: Seen): void => {
    seen.delete(key);
    gone.set(key, service);
  };
  const belongsTo =
    (asked: string) =>
    ({ projectId }: SeenService): boolean =>
      projectId === asked || projectId === EVERY_PROJECT;
  /** In the order in which they were seen last, so the first that is young ends the walk. */
  const forgetOld = (): void => {
    const oldest = now() - RECENT_MS;
    for (const [key, service] of seen) {
      if (service.lastSeenMs >= oldest) return;
      leave(key, service);
      log.info("a service has not asked for work for a minute", fieldsOf(service));
    }
  };
  return {
    saw(projectId, target, holder, { definitions, safeOnly } = {}) {
      const key = `${projectId} ${target} ${holder}`;
      const known = seen.get(key);
      const asking = (known?.asking ?? 0) + 1;
      const service = { projectId, target, holder, lastSeenMs: now(), asking, definitions, safeOnly };
      seen.delete(key);
      gone.delete(key);
      seen.set(key, service);
      if (known === undefined) log.info("a service asks for work", fieldsOf(service));
      forgetOld();
      // The longest unseen comes first. Names are the services' own, so nothing else bounds their number.
      for (const oldest of seen.keys()) {
        if (seen.size <= MAX_SEEN) break;
        seen.delete(oldest);
      }
      return (gone) => {
        const known = seen.get(key);
        if (known === undefined) return;
        // Several processes may share a name: it is gone with the last of them.
        if (gone && known.asking <= 1) {
          leave(key, known);
          log.info("a service went away", fieldsOf(known));
        } else seen.set(key, { ...known, asking: known.asking - 1 });
      };
    },
    list(projectId, target) {
      forgetOld();
      const here = [...seen.values()].filter(belongsTo(projectId));
      return target === undefined ? here : here.filter((service) => service.target === target);
    },
    gone(projectId) {
      forgetOld();
      const oldest = now() - GONE_MS;
      return [...gone.values()].filter(belongsTo(projectId)).filter(({ lastSeenMs }) => lastSeenMs >= oldest);
    },
  };
};
