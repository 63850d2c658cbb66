// Work for a service that belongs to no project, such as the bundled tools: one question for all projects.
//   CA1. One look per ring, and one a second by itself (I13), however many projects there are. A call that is dispatched in this
//        process names its target: only services of that target look, or are handed the call (handover.ts).
//   CA2. Every project with work gets a share of what is claimed. When there are more projects than fit, the next look continues
//        where this one stopped, so a busy project cannot keep the others waiting.
//   CA3. Calls that were claimed in one project are handed out even if the claim in another failed: otherwise their leases would
//       lapse.

import { type Clock, createWaker } from "../ports/clock.ts";
import type { Doorbell } from "../ports/doorbell.ts";
import type { Queryer } from "../sql/database.ts";
import { PROJECTS_WITH_WORK } from "./claim-across.sql.ts";
import type { ClaimRequest, LineRequest } from "./claims.ts";
import type { Handover } from "./handover.ts";
import type { LeasedCall } from "./take-calls.ts";

export type ClaimAcrossRequest = Omit<ClaimRequest, "projectId">;

export interface ClaimAcrossDeps {
  readonly db: Queryer;
  readonly claim: (request: LineRequest) => Promise<readonly LeasedCall[]>;
  readonly doorbell: Doorbell;
  readonly clock: Clock;
  readonly handover: Pick<Handover, "sit">;
  /** Milliseconds until a call that a limit holds may be claimed, when time alone decides it. */
  readonly wakeIn: (key: { readonly target: string }) => number | undefined;
}

export interface ClaimAcross {
  /** A call of this process was queued for this target. */
  offer(target: string): void;
  wait(request: ClaimAcrossRequest, waitMs: number, signal?: AbortSignal): Promise<readonly LeasedCall[]>;
  close(): void;
}

// As often as the first in a project's own line.
const LOOK_AGAIN_MS = 1_000;
/** Shares are claimed in one statement; more than this would make it long. */
const MAX_PROJECTS = 32;

export const createClaimAcross = ({ db, claim, doorbell, clock, handover, wakeIn }: ClaimAcrossDeps): ClaimAcross => {
  const waiting = new Set<{ readonly target: string; readonly wake: () => void }>();
  /** Where the next look of a target continues; absent: at the first project. */
  const positions = new Map<string, string>();
  const closing = new AbortController();

  const list = async (target: string, after: string, limit: number): Promise<readonly string[]> =>
    (await db.query<{ project_id: string }>(PROJECTS_WITH_WORK, [target, after, limit])).map((row) => row.project_id);

  const pick = async ({ target, max }: ClaimAcrossRequest): Promise<readonly string[]> => {
    const limit = Math.min(max, MAX_PROJECTS);
    const after = positions.get(target) ?? "";
    const found = await list(target, after, limit);
    if (found.length === limit) {
      positions.set(target, found.at(-1) ?? "");
      return found;
    }
    positions.delete(target);
    if (after === "") return found;
    const first = await list(target, "", limit - found.length);
    return [...found, ...first.filter((projectId) => projectId <= after)];
  };

  const look = async (request: Omit<LineRequest, "projectId">): Promise<readonly LeasedCall[]> => {
    const projects = await pick(request);
    const share = Math.max(1, Math.floor(request.max / Math.max(1, projects.length)));
    const claims = await Promise.allSettled(projects.map((projectId) => claim({ ...request, projectId, max: share })));
    const taken = claims.flatMap((one) => (one.status === "fulfilled" ? one.value : []));
    const failed = claims.find((one) => one.status === "rejected");
    if (taken.length === 0 && failed !== undefined) throw failed.reason;
    return taken;
  };

  return {
    async wait(request, waitMs, signal) {
      const until = clock.now() + waitMs;
      const ends = signal === undefined ? [closing.signal] : [signal, closing.signal];
      const isOver = (): boolean => ends.some((end) => end.aborted);
      let rung = createWaker();
      const wake = (): void => rung.wake();
      for (const end of ends) end.addEventListener("abort", wake, { once: true });
      const stopListening = [doorbell.listen("queued", wake), doorbell.listen("sessions", wake)];
      const waiter = { target: request.target, wake };
      waiting.add(waiter);
      const seat = handover.sit({ ...request, wake });
      try {
        for (;;) {
          rung = createWaker();
          const taken = await seat.look(() => look({ ...request, inLine: waitMs > 0 }));
          const leftMs = until - clock.now();
          if (taken.length > 0 || leftMs <= 0 || isOver()) return taken;
          const restMs = Math.min(LOOK_AGAIN_MS, leftMs, wakeIn(request) ?? LOOK_AGAIN_MS);
          const handed = await seat.rest(clock.sleep(restMs, rung.signal));
          if (handed.length > 0 || isOver()) return handed;
        }
      } finally {
        seat.leave();
        waiting.delete(waiter);
        for (const end of ends) end.removeEventListener("abort", wake);
        for (const stop of stopListening) stop();
      }
    },
    offer(target) {
      for (const waiter of waiting) if (waiter.target === target) waiter.wake();
    },
    close: () => closing.abort(),
  };
};
