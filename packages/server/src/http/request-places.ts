// Which requests are worked on at the same time. All of them share the connections to the database, so one project that asks for
// much must not keep leases, heartbeats and the requests of others waiting.
//   AM1. A few requests of a project are worked on at once, and a few more in all: fewer than there are connections. What calls are made
//        of (route.ts, `isHot`) passes without a place: such requests share statements and hold few connections.
//   AM2. Others wait in the line of their project. Lines take turns, so a long line is no disadvantage for a short one.
//   AM3. A line has a bound; a request beyond it is refused at once and told to come again.
//   AM4. A request gives its place back when it is answered, or when it begins to wait for something that happens later.

import { ToolplaneError } from "@toolplane/protocol";

export interface RequestLimits {
  readonly perProject: number;
  readonly inAll: number;
  /** How many requests of a project may stand in line. */
  readonly inLine: number;
}

/** Fewer than the connections of the pool (`DEFAULT_CONNECTIONS` of the engine): four are left for what calls are made of. */
const LIMITS: RequestLimits = { perProject: 3, inAll: 6, inLine: 512 };

const RETRY_AFTER_SECONDS = 1;

export interface RequestPlaces {
  /** Resolves when there is a place; throws `rate_limited` when the line is full, and the signal's reason when the client has gone. */
  enter(projectId: string, signal: AbortSignal): Promise<Disposable>;
  /** How many stand in line. */
  count(): number;
}

interface Waiting {
  readonly admit: () => void;
}

export const createRequestPlaces = ({ perProject, inAll, inLine }: RequestLimits = LIMITS): RequestPlaces => {
  const working = new Map<string, number>();
  // In the order in which the lines have their turn.
  const lines = new Map<string, Set<Waiting>>();
  let total = 0;

  const isFree = (projectId: string): boolean => total < inAll && (working.get(projectId) ?? 0) < perProject;

  const takePlace = (projectId: string): Disposable => {
    working.set(projectId, (working.get(projectId) ?? 0) + 1);
    total += 1;
    let isHeld = true;
    return {
      [Symbol.dispose]() {
        if (!isHeld) return;
        isHeld = false;
        total -= 1;
        const left = (working.get(projectId) ?? 1) - 1;
        if (left > 0) working.set(projectId, left);
        else working.delete(projectId);
        admitNext();
      },
    };
  };

  const admitNext = (): void => {
    for (const [projectId, line] of lines) {
      if (total >= inAll) return;
      if (!isFree(projectId)) continue;
      const [first] = line;
      if (first === undefined) continue;
      line.delete(first);
      lines.delete(projectId);
      if (line.size > 0) lines.set(projectId, line);
      first.admit();
    }
  };

  const standInLine = (projectId: string, signal: AbortSignal): Promise<Disposable> => {
    const line = lines.get(projectId) ?? new Set<Waiting>();
    if (line.size >= inLine)
      throw new ToolplaneError("rate_limited", `project ${projectId} has ${inLine} requests in line; ask again later`, {
        detail: { max_in_line: inLine, retry_after_seconds: RETRY_AFTER_SECONDS },
      });
    lines.set(projectId, line);
    return new Promise((resolve, reject) => {
      const leave = (): void => {
        line.delete(waiting);
        if (line.size === 0 && lines.get(projectId) === line) lines.delete(projectId);
        reject(signal.reason as Error);
      };
      const waiting: Waiting = {
        admit() {
          signal.removeEventListener("abort", leave);
          resolve(takePlace(projectId));
        },
      };
      line.add(waiting);
      signal.addEventListener("abort", leave, { once: true });
    });
  };

  return {
    async enter(projectId, signal) {
      signal.throwIfAborted();
      return isFree(projectId) ? takePlace(projectId) : standInLine(projectId, signal);
    },
    count: () => [...lines.values()].reduce((sum, line) => sum + line.size, 0),
  };
};
