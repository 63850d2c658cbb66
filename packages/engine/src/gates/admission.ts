// Which new calls are let in: the limits that refuse. A refused call leaves nothing behind, and its caller is told when to come back.
//   AD1. `rate` of a project: one bucket in the database, for all processes. The rate belongs to the project, because a caller can
//        get more tokens and agents, but not more projects. A call that is made takes a token. A call that was let in and is not made after all (its key
//        was used, the queue is full) gives its token back.
//   AD2. `queue` of a project: how many of its calls may wait. The check here comes before a call is written, so a refused call costs
//        little. The limit itself is kept by the check in the transaction that writes the call (queue-places.ts).
//   AD3. The places of the plane: how many calls may be open in all, and how many of them one project may have (plan-share.ts). The check
//        uses a count in memory that is renewed once a second, so a flood can exceed a share by the calls that are written in a second.
//   AD4. A project without these limits costs one lookup, and another one after ten minutes or a change of the registry.

import { burstOf, type Rate, ToolplaneError } from "@toolplane/protocol";
import type { ProjectLimits } from "@toolplane/protocol/registry";
import type { Ground } from "../ports/ground.ts";
import { createRecent } from "../recent/recent.ts";
import {
  bindTokens,
  COUNT_OPEN,
  COUNT_OPEN_OF_PROJECT,
  COUNT_QUEUED,
  type GrantRow,
  type OpenRow,
  type ProjectLimitsRow,
  type QueuedRow,
  READ_PROJECT_LIMITS,
  RETURN_TAKEN_TOKENS,
  TAKE_TOKENS,
} from "./admission.sql.ts";
import { tokenMs } from "./plan-room.ts";
import { ceilingOf, floorOf, NO_OPEN_CALLS, planShare } from "./plan-share.ts";
import { createQueuePauses, planPause } from "./queue-pauses.ts";
import type { QueueLimits } from "./queue-places.ts";

export interface Admission {
  /** Why no call of the project is let in now; undefined when the plane has room for it. From memory. */
  planeFull(projectId: string): ToolplaneError | undefined;
  /** What the project has open of the plane's places, and what it may have now. */
  openCalls(projectId: string): Promise<PlaneShare>;
  /** For each of so many new calls of the project: undefined when it is let in, else why it is not. */
  admit(projectId: string, count: number): Promise<readonly (ToolplaneError | undefined)[]>;
  /**
   * Gives back the tokens of so many calls that were let in and not made. Does not throw: the bucket refills by itself, so a token that is not given
   * back is only late.
   */
  giveBack(projectId: string, count: number): Promise<void>;
  /** The `queue` limits of these projects; a project without one is left out. */
  queueLimits(projectIds: Iterable<string>): Promise<QueueLimits>;
  /**
   * The refusal of a call that finds no place in the queue of its project. `canStart`: at least one call in the queue starts as soon as a service
   * takes it.
   */
  queueFull(projectId: string, queue: number, canStart: boolean): ToolplaneError;
  /** The limits of a project; from memory when they were asked for a moment ago. */
  limitsOf(projectId: string): Promise<ProjectLimits>;
  /** Calls of these projects ended here; tells callers how long a place takes to become free. */
  freed(projectIds: Iterable<string>): void;
  /** Counts what is open in the plane; for a watchdog, which need not come again before its time. */
  measure(): Promise<false>;
  close(): void;
}

export interface PlaneShare {
  readonly open: number;
  /** From this many open calls on, new calls of the project are refused. */
  readonly share: number;
  /** The places of the whole plane, for all projects together. */
  readonly places: number;
}

export interface AdmissionDeps extends Pick<Ground, "db" | "doorbell" | "clock"> {
  /** How many calls may be open in the whole plane, for all projects together. */
  readonly maxOpen?: number | undefined;
}

/** So many open calls with ordinary arguments take some hundreds of megabytes, which the smallest server holds. */
const MAX_OPEN = 200_000;
const MAX_PROJECTS = 10_000;
/** Limits are read again after this time, because a ring of the registry may be lost (I13). */
const REMEMBERED_MS = 600_000;

const refuse = (message: string, seconds: number, detail: Readonly<Record<string, unknown>>): ToolplaneError =>
  new ToolplaneError("rate_limited", message, { detail: { ...detail, retry_after_seconds: Math.max(seconds, 1) } });

const callsOf = (count: number): string => (count === 1 ? "1 call" : `${count} calls`);

export const createAdmission = (deps: AdmissionDeps): Admission => {
  const { db, clock, maxOpen = MAX_OPEN } = deps;
  const known = createRecent<{ readonly limits: ProjectLimits }>(MAX_PROJECTS, { ttl: REMEMBERED_MS });
  let changes = 0;
  const pauses = createQueuePauses(clock);
  let anyFreedAt: number | undefined;
  let counted = NO_OPEN_CALLS;
  const close = deps.doorbell.listen("registry", () => {
    changes++;
    known.clear();
  });

  const find = async (projectId: string): Promise<ProjectLimits> => {
    const found = known.get(projectId);
    if (found !== undefined) return found.limits;
    const asked = changes;
    const [row] = await db.query<ProjectLimitsRow>(READ_PROJECT_LIMITS, [projectId]);
    const limits = row?.limits ?? {};
    // If the limits changed while the statement ran, its answer may be old, so it is not remembered.
    if (row !== undefined && asked === changes) known.set(projectId, { limits });
    return limits;
  };

  const queueFull = (projectId: string, queue: number, canStart: boolean, newestMs = 0): ToolplaneError => {
    const seconds = pauses.pause(projectId, canStart, newestMs);
    const message = `the queue of project ${projectId} is full: at most ${callsOf(queue)} may wait; there is room when waiting calls start or are canceled; see them with: toolplane calls list --status queued --project ${projectId}; as an estimate, try again in ${seconds} s`;
    return refuse(message, seconds, { limit: "queue", queue });
  };

  /** How many of the calls in `verdicts` find a place in the queue. The others are refused there. */
  const countPlaces = async (
    projectId: string,
    queue: number,
    verdicts: (ToolplaneError | undefined)[],
  ): Promise<number> => {
    const [row] = await db.query<QueuedRow>(COUNT_QUEUED, [projectId, queue]);
    const { queued, ready, newest_ms: newestMs } = row ?? { queued: 0, ready: 0, newest_ms: null };
    const left = Math.max(queue - queued, 0);
    if (left > 0) pauses.moved(projectId);
    if (left >= verdicts.length) return verdicts.length;
    verdicts.fill(queueFull(projectId, queue, left > 0 || ready > 0, newestMs ?? 0), left);
    return left;
  };

  /** Refuses in `verdicts` those of the first `count` calls for which there is no token, each a token later than the one before. */
  const takeTokens = async (
    projectId: string,
    rate: Rate,
    count: number,
    verdicts: (ToolplaneError | undefined)[],
  ): Promise<void> => {
    const [grant] = await db.query<GrantRow>(TAKE_TOKENS, bindTokens(projectId, rate, burstOf(rate, "refuse"), count));
    const { granted, wait_ms: waitMs } = grant ?? { granted: count, wait_ms: 0 };
    for (let index = granted; index < count; index++) {
      const seconds = Math.max(Math.ceil((waitMs + (index - granted) * tokenMs(rate)) / 1_000), 1);
      const message = `project ${projectId} has used up its rate of ${callsOf(rate.limit)} in ${rate.per_seconds} s; make the call again in ${seconds} s at the earliest, or let an operator raise the rate with: toolplane projects limits ${projectId} --rate N/s`;
      verdicts[index] = refuse(message, seconds, { limit: "rate", rate });
    }
  };

  const planeFull = (projectId: string): ToolplaneError | undefined => {
    const share = planShare(maxOpen, counted);
    const own = counted.byProject.get(projectId) ?? 0;
    if (own < share) return undefined;
    const message =
      share === 0
        ? `the plane is full: it has ${counted.open} open calls, twice as many as its ${maxOpen} places; there is room when calls end`
        : `project ${projectId} has ${own} open calls, and its share of the plane's ${maxOpen} places is ${share} now; the share shrinks while the plane fills; let calls of the project end, or cancel some`;
    const stillMs = anyFreedAt === undefined ? Number.POSITIVE_INFINITY : clock.now() - anyFreedAt;
    return refuse(message, planPause(stillMs), { limit: "plane", open_calls: own, share });
  };

  return {
    planeFull,
    async openCalls(projectId) {
      const [row] = await db.query<{ open: number }>(COUNT_OPEN_OF_PROJECT, [projectId, maxOpen]);
      return { open: row?.open ?? 0, share: planShare(maxOpen, counted), places: maxOpen };
    },
    async admit(projectId, count) {
      const all = (error: ToolplaneError | undefined): (ToolplaneError | undefined)[] => Array(count).fill(error);
      const full = planeFull(projectId);
      if (full !== undefined) return all(full);
      const { rate, queue } = await find(projectId);
      if (rate == null && queue == null) return all(undefined);
      const verdicts = all(undefined);
      const free = queue == null ? count : await countPlaces(projectId, queue, verdicts);
      if (rate != null && free > 0) await takeTokens(projectId, rate, free, verdicts);
      return verdicts;
    },
    async giveBack(projectId, count) {
      if (count <= 0) return;
      const { rate } = await find(projectId).catch((): ProjectLimits => ({}));
      if (rate == null) return;
      const values = bindTokens(projectId, rate, burstOf(rate, "refuse"), count);
      await db.query(RETURN_TAKEN_TOKENS, values).catch(() => undefined);
    },
    async queueLimits(projectIds) {
      const limits = new Map<string, number>();
      for (const projectId of new Set(projectIds)) {
        const { queue } = await find(projectId);
        if (queue != null) limits.set(projectId, queue);
      }
      return limits;
    },
    queueFull,
    limitsOf: find,
    freed(projectIds) {
      anyFreedAt = clock.now();
      for (const projectId of projectIds) pauses.moved(projectId);
    },
    async measure() {
      const rows = await db.query<OpenRow>(COUNT_OPEN, [ceilingOf(maxOpen), floorOf(maxOpen)]);
      const byProject = new Map<string, number>();
      for (const { project_id: projectId, open } of rows) if (projectId !== null) byProject.set(projectId, open);
      counted = { open: rows.find((row) => row.project_id === null)?.open ?? 0, byProject };
      return false;
    },
    close,
  };
};
