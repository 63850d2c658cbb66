// Who has asked for work lately: the answer to "does anybody serve this target". From memory: it is for people who look,
// and a service that lives asks again within seconds. One that ends its question itself, as a service does that stops, is
// forgotten at once.

export interface SeenService {
  readonly projectId: string;
  readonly target: string;
  readonly holder: string;
  readonly lastSeenMs: number;
  /** The definitions it says it runs; undefined when it says nothing. */
  readonly definitions?: readonly string[] | undefined;
}

export interface SeenServices {
  /** It asks; returned is the end of that, with or without the service having gone away meanwhile. */
  saw(
    projectId: string,
    target: string,
    holder: string,
    definitions?: readonly string[] | undefined,
  ): (gone: boolean) => void;
  /** Services that asked within the last minute: a long poll comes back at least that often. */
  list(projectId: string, target?: string): readonly SeenService[];
}

/** In place of a project: the service takes calls of all projects. No project can have this id. */
export const EVERY_PROJECT = "*";

const RECENT_MS = 60_000;
const MAX_SEEN = 10_000;

export const createSeenServices = (now: () => number): SeenServices => {
  const seen = new Map<string, SeenService & { readonly asking: number }>();
  const forgetOld = (): void => {
    const oldest = now() - RECENT_MS;
    for (const [key, { lastSeenMs }] of seen) if (lastSeenMs < oldest) seen.delete(key);
  };
  return {
    saw(projectId, target, holder, definitions) {
      const key = `${projectId} ${target} ${holder}`;
      const asking = (seen.get(key)?.asking ?? 0) + 1;
      seen.delete(key);
      seen.set(key, { projectId, target, holder, lastSeenMs: now(), asking, definitions });
      // The longest unseen comes first. Names are the services' own, so nothing else bounds their number.
      for (const oldest of seen.keys()) {
        if (seen.size <= MAX_SEEN) break;
        seen.delete(oldest);
      }
      return (gone) => {
        const known = seen.get(key);
        if (known === undefined) return;
        // Several processes may share a name: it is gone with the last of them.
        if (gone && known.asking <= 1) seen.delete(key);
        else seen.set(key, { ...known, asking: known.asking - 1 });
      };
    },
    list(projectId, target) {
      forgetOld();
      return [...seen.values()].filter(
        (service) =>
          (service.projectId === projectId || service.projectId === EVERY_PROJECT) &&
          (target === undefined || service.target === target),
      );
    },
  };
};
