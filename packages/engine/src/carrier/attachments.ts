// Attachments: services on a carrier say which pairs of project and target they serve, and each pair has its durable from then on.
//   AH1. Services that attach at the same time share statements (coalescer). A flood of one service would otherwise hold every connection to
//        the database, each waiting for the lock of the same row.
//   AH2. The bus is asked for the durable each time, because the server may have lost it since.
//   AH3. When a pair has services that fetch for the first time, or again, its old commands on the bus are thrown away before the commands of
//        its waiting calls are published again: a service would get them twice.

import type { CarrierBus } from "@toolplane/bus";
import { showName, ToolplaneError } from "@toolplane/protocol";
import { toolCommandSubscription } from "@toolplane/protocol/agents";
import { createCoalescer } from "../coalescer/coalescer.ts";
import type { Doorbell } from "../ports/doorbell.ts";
import type { TargetKey } from "../sessions/session-targets.ts";
import type { Queryer } from "../sql/database.ts";
import { bindPostpone, POSTPONE } from "../watchdog/watchdog.sql.ts";
import { ATTACH, type AttachedRow, bindAttach, QUEUED_CALLS } from "./durables.sql.ts";

export interface AttachmentsOptions {
  readonly db: Queryer;
  readonly bus: Pick<CarrierBus, "ensureDurables" | "purgeCommands">;
  readonly doorbell: Doorbell;
  readonly detachAfterSeconds: number;
  /** A durable is there, and these services fetch from it or not. */
  readonly attached: (durable: string, fetches: boolean) => void;
}

interface Attachment extends TargetKey {
  readonly fetches: boolean;
  readonly durable: string;
  readonly pattern: string;
}

export interface Attachments {
  /** A service serves this pair on the carrier; resolves to its durable, which exists then. `fetches`: it takes commands from there. */
  attach(served: TargetKey, fetches: boolean): Promise<string>;
}

const MOST_REPUBLISHED = 10_000;

/** Each durable once; it is fetched from when one of its services does. */
const distinct = (items: readonly Attachment[]): readonly Attachment[] => {
  const byDurable = new Map<string, Attachment>();
  for (const item of items) {
    const known = byDurable.get(item.durable);
    if (known === undefined || item.fetches) byDurable.set(item.durable, item);
  }
  return [...byDurable.values()];
};

export const createAttachments = (options: AttachmentsOptions): Attachments => {
  const { db, bus, doorbell, detachAfterSeconds, attached } = options;

  /** Due at once: the watchdog publishes the commands of these calls again. Further calls follow when they are due. */
  const publishAgain = async ({ projectId, target }: TargetKey): Promise<void> => {
    const queued = await db.query<{ tool_call_id: string }>(QUEUED_CALLS, [projectId, target, MOST_REPUBLISHED]);
    const due = queued.map(({ tool_call_id: toolCallId }) => ({ projectId, toolCallId, seconds: 0 }));
    if (due.length > 0) await db.query(POSTPONE, bindPostpone(due));
  };

  const flush = async (items: readonly Attachment[]): Promise<readonly (string | Error)[]> => {
    const pairs = distinct(items);
    const rows = await db.query<AttachedRow>(ATTACH, bindAttach(pairs, detachAfterSeconds));
    const known = new Set(rows.map(({ ord }) => pairs[ord - 1]?.durable));
    const fresh = rows.filter((row) => row.fresh).flatMap(({ ord }) => pairs[ord - 1] ?? []);
    const present = pairs.filter(({ durable }) => known.has(durable));
    for (const { pattern } of fresh) await bus.purgeCommands(pattern);
    if (present.length > 0) await bus.ensureDurables(present.map(({ durable, pattern }) => ({ durable, pattern })));
    for (const { durable, fetches } of present) attached(durable, fetches);
    for (const pair of fresh) await publishAgain(pair);
    if (fresh.length > 0) doorbell.ring("registry");
    return items.map(({ projectId, durable }) =>
      known.has(durable)
        ? durable
        : new ToolplaneError("not_found", `there is no project ${showName(projectId)}`, {
            detail: { project_id: projectId },
          }),
    );
  };

  const coalescer = createCoalescer<Attachment, string>({ flush, groupOf: ({ projectId }) => projectId });

  return {
    async attach({ projectId, target }, fetches) {
      const { durable, pattern } = toolCommandSubscription(projectId, target);
      return coalescer.submit({ projectId, target, fetches, durable, pattern: pattern.text });
    },
  };
};
