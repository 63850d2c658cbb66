// The services that asked for work lately: they tell whether a target is served. A service that fetches its commands from a bus does not ask for
// work here, so it reports from time to time. The list is in memory, because only people read it and a living service asks again within seconds.
// A service that ends its request itself, as one that stops does, is forgotten at once. The log says when a service came and when it went.
// Services choose their names and lists, so both are bounded in number and bytes. Each project has a share of the bytes: a project that uses ever
// new names pushes out only its own.

import { type Log, silentLog } from "../ports/log.ts";
import { createRecent } from "../recent/recent.ts";

export interface SeenService {
  readonly projectId: string;
  readonly target: string;
  readonly holder: string;
  readonly lastSeenMs: number;
  /** The definitions it says it runs; undefined when it says nothing. */
  readonly definitions?: readonly string[] | undefined;
  /** The service gets only calls that may run again (handover.ts, HO5). */
  readonly safeOnly?: boolean | undefined;
}

export type SaidOfService = Pick<SeenService, "definitions" | "safeOnly">;

export interface SeenServices {
  /** A service asks for work. The function that is returned ends the request; `gone`: the service went away meanwhile. */
  saw(projectId: string, target: string, holder: string, said?: SaidOfService | undefined): (gone: boolean) => void;
  /** Services that asked within the last minute: a long poll comes back at least that often. */
  list(projectId: string, target?: string): readonly SeenService[];
  /** Services that asked within the last hour and no longer ask. */
  gone(projectId: string): readonly SeenService[];
}

/** In place of a project: the service takes calls of all projects. No project can have this id. */
export const EVERY_PROJECT = "*";

const RECENT_MS = 60_000;
const MAX_SEEN = 10_000;
/** A thousand services with twenty definitions each take two megabytes. */
const MAX_BYTES = 32 * 1024 * 1024;
const MAX_PROJECT_BYTES = MAX_BYTES / 4;
/** About what an entry takes, and each text in it. */
const ENTRY_BYTES = 300;
const TEXT_BYTES = 32;
/** For how long services that are gone are listed, and how many of them. */
const GONE_MS = 3_600_000;
const MAX_GONE = 1_000;

type Seen = SeenService & { readonly asking: number; readonly bytes: number };

/** About what it takes in memory. Pure. */
const bytesOf = (key: string, definitions: readonly string[] = []): number =>
  definitions.reduce((sum, definition) => sum + definition.length + TEXT_BYTES, ENTRY_BYTES + 2 * key.length);

const fieldsOf = ({ projectId, target, holder }: SeenService) => ({
  ...(projectId === EVERY_PROJECT ? {} : { projectId }),
  target,
  service: holder,
});

export const createSeenServices = (now: () => number, log: Log = silentLog): SeenServices => {
  const seen = new Map<string, Seen>();
  const gone = createRecent<SeenService>(MAX_GONE);
  const bytesByProject = new Map<string, number>();
  let bytes = 0;
  const count = (projectId: string, more: number): void => {
    bytes += more;
    const own = (bytesByProject.get(projectId) ?? 0) + more;
    if (own > 0) bytesByProject.set(projectId, own);
    else bytesByProject.delete(projectId);
  };
  const forget = (key: string): Seen | undefined => {
    const known = seen.get(key);
    if (known !== undefined && seen.delete(key)) count(known.projectId, -known.bytes);
    return known;
  };
  /** Moves a service to those that are gone. The definitions that it ran are dropped. */
  const leave = (key: string, service: Seen): void => {
    forget(key);
    gone.set(key, { ...service, definitions: undefined });
  };
  /** Forgets services of the project, those that were not seen for the longest time first. */
  const makeRoom = (projectId: string): void => {
    for (const [key, service] of seen) {
      if ((bytesByProject.get(projectId) ?? 0) <= MAX_PROJECT_BYTES) break;
      if (service.projectId === projectId) forget(key);
    }
    for (const key of seen.keys()) {
      if (seen.size <= MAX_SEEN && bytes <= MAX_BYTES) break;
      forget(key);
    }
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
      const known = forget(key);
      const asking = (known?.asking ?? 0) + 1;
      const size = bytesOf(key, definitions);
      const service = { projectId, target, holder, lastSeenMs: now(), asking, definitions, safeOnly, bytes: size };
      gone.delete(key);
      seen.set(key, service);
      count(projectId, size);
      if (known === undefined) log.info("a service asks for work", fieldsOf(service));
      forgetOld();
      makeRoom(projectId);
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
