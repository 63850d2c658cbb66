// Webhooks: who is told of the events of a project, and the deliveries to them.
//   WH1. Events become deliveries in one transaction with how far they were read: each event once per webhook, also over crashes.
//   WH2. A delivery is a row. It is claimed under a lease, and sent again when its process dies: at least once, always with the same
//        id. Deliveries of one webhook about one call or turn are sent in order.
//   WH3. A delivery that its receiver does not take is put off longer each time, then it is dead; a person can replay it.
//   WH4. The secret is sealed by the caller with a key that the database does not have (I8).
//   WH5. Deliveries are claimed by project and receiver: neither a silent receiver nor a project with many deliveries holds up another
//        project.
//   WH6. Without webhooks nothing is read, and no call pays for them.

import { showName, ToolplaneError } from "@toolplane/protocol";
import { type Actor, recordActs } from "../audit/audit.ts";
import type { EventLog } from "../bus/event-log.ts";
import type { Doorbell } from "../ports/doorbell.ts";
import type { Faults } from "../ports/faults.ts";
import type { Ids } from "../ports/ids.ts";
import type { Database } from "../sql/database.ts";
import {
  ADD_DELIVERIES,
  bindDeliveries,
  bindUnderWay,
  CLAIM_DELIVERIES,
  type ClaimedDeliveryRow,
  type DeliveryRow,
  type DeliveryWrite,
  DROP_OLD_DELIVERIES,
  END_DEAD,
  END_DELIVERED,
  LIST_DELIVERIES,
  type LineUnderWay,
  NEXT_DUE,
  PUT_OFF,
  REPLAY_DELIVERY,
} from "./deliveries.sql.ts";
import { ENDS_OF_CALL, isWanted, type NamedEvent, nameEvent, planPause } from "./plan-delivery.ts";
import {
  ADD_READER,
  ADD_WEBHOOK,
  COUNT_WEBHOOKS,
  DROP_OLD_OF_CALLS,
  DROP_READERS,
  END_OF_CALLS,
  HAS_WEBHOOK,
  LIST_WEBHOOKS,
  MOVE_READER,
  READ_LISTENERS,
  READ_READERS,
  REMOVE_WEBHOOK,
  type WebhookRow,
} from "./webhooks.sql.ts";

export interface Webhook {
  readonly projectId: string;
  readonly webhookId: string;
  /** For one call only. */
  readonly toolCallId: string | null;
  readonly url: string;
  readonly events: readonly string[];
  readonly createdBy: string;
  readonly createdAt: Date;
}

export interface NewWebhook extends Omit<Webhook, "createdAt" | "toolCallId"> {
  readonly toolCallId?: string | undefined;
  readonly sealedSecret: string;
  readonly keyId: string;
}

export interface Delivery {
  readonly projectId: string;
  readonly deliveryId: string;
  readonly webhookId: string;
  readonly event: string;
  readonly status: "pending" | "delivered" | "dead";
  readonly attempts: number;
  readonly availableAt: Date;
  readonly lastStatus: number | null;
  readonly lastError: string | null;
  readonly createdAt: Date;
  readonly endedAt: Date | null;
}

export interface ClaimedDelivery {
  readonly deliveryId: string;
  readonly leaseId: string;
  readonly projectId: string;
  readonly webhookId: string;
  /** The host and port it goes to. */
  readonly receiver: string;
  readonly event: string;
  readonly body: string;
  readonly attempts: number;
  readonly url: string;
  readonly sealedSecret: string;
}

/** What the receiver did. `final`: it will never take it. */
export type DeliveryOutcome =
  | { readonly taken: true; readonly status: number }
  | { readonly taken: false; readonly status: number | undefined; readonly reason: string; readonly final: boolean };

export type DeliveryEnd =
  | { readonly status: "delivered" | "dead" }
  | { readonly status: "pending"; readonly nextInSeconds: number };

export interface EventReader {
  readonly projectId: string;
  readonly position: string;
}

export interface DeliveryClaim {
  readonly keyId: string;
  readonly max: number;
  readonly leaseSeconds: number;
  /** What this process sends at this moment. */
  readonly underWay: readonly LineUnderWay[];
  /** How many of one project to one receiver may be under way at once, and how many of one project. */
  readonly perReceiver: number;
  readonly perProject: number;
}

export interface Webhooks {
  create(webhook: NewWebhook, by?: Actor): Promise<Webhook>;
  list(projectId: string, page: { readonly after: string; readonly limit: number }): Promise<readonly Webhook[]>;
  remove(projectId: string, webhookId: string, by?: Actor): Promise<void>;
  deliveries(
    projectId: string,
    webhookId: string,
    page: { readonly before?: string | undefined; readonly limit: number; readonly status?: string | undefined },
  ): Promise<readonly Delivery[]>;
  replay(projectId: string, deliveryId: string, by?: Actor): Promise<Delivery>;
  /** The projects whose events have to be read. */
  readers(): Promise<readonly EventReader[]>;
  /** Makes deliveries of the next events of a project; where it goes on, or undefined when there are no more now. */
  read(reader: EventReader): Promise<EventReader | undefined>;
  claim(request: DeliveryClaim): Promise<readonly ClaimedDelivery[]>;
  /** What becomes of the delivery, unless another process has taken it over. */
  settle(delivery: ClaimedDelivery, outcome: DeliveryOutcome): Promise<DeliveryEnd>;
  /** In how many milliseconds the next delivery becomes due; 0 when all that wait are due, undefined when none waits. */
  nextDueMs(): Promise<number | undefined>;
  /** Drops what is old; a bounded piece. */
  forget(): Promise<void>;
}

/** Each is asked for every event of the project. */
const MAX_WEBHOOKS = 50;
/** A page of events for many webhooks is written in pieces. */
const MAX_WRITES = 2_000;
const MAX_REASON = 300;
const NEWEST = "\u{10ffff}";

const webhookOf = (row: WebhookRow): Webhook => ({
  projectId: row.project_id,
  webhookId: row.webhook_id,
  toolCallId: row.tool_call_id,
  url: row.url,
  events: row.events,
  createdBy: row.created_by,
  createdAt: row.created_at,
});

const deliveryOf = (row: DeliveryRow): Delivery => ({
  projectId: row.project_id,
  deliveryId: row.delivery_id,
  webhookId: row.webhook_id,
  event: row.event,
  status: row.status,
  attempts: row.attempts,
  availableAt: row.available_at,
  lastStatus: row.last_status,
  lastError: row.last_error,
  createdAt: row.created_at,
  endedAt: row.ended_at,
});

const notThere = (projectId: string, webhookId: string): ToolplaneError =>
  new ToolplaneError("not_found", `project ${showName(projectId)} has no webhook ${showName(webhookId)}`, {
    detail: { todo: "see which webhooks there are: toolplane webhooks list" },
  });

const hostOf = (url: string): string => URL.parse(url)?.host ?? "";

export const createWebhooks = (deps: {
  readonly db: Database;
  readonly events: EventLog;
  readonly doorbell: Doorbell;
  readonly faults: Faults;
  readonly ids: Ids;
}): Webhooks => {
  const { db, events, doorbell, faults, ids } = deps;

  const writeOf = (projectId: string, webhookId: string, event: NamedEvent): DeliveryWrite => {
    const deliveryId = ids.uuid();
    const body = { delivery_id: deliveryId, event: event.name, project_id: projectId, data: event.data };
    return {
      ...{ deliveryId, projectId, webhookId, orderKey: event.orderKey },
      ...{ event: event.name, body: JSON.stringify(body) },
    };
  };

  return {
    async create(webhook, by) {
      const { projectId, webhookId, toolCallId, url } = webhook;
      if (toolCallId === undefined) {
        const [row] = await db.query<{ count: number }>(COUNT_WEBHOOKS, [projectId]);
        if ((row?.count ?? 0) >= MAX_WEBHOOKS)
          throw new ToolplaneError("conflict", `a project has at most ${MAX_WEBHOOKS} webhooks: delete one first`);
      }
      // Before the webhook is there: what happens from now on is read for it.
      const position = await events.now(projectId);
      const added = await db
        .transaction(async (tx) => {
          await tx.query(ADD_READER, [projectId, position]);
          const [row] = await tx.query<WebhookRow>(ADD_WEBHOOK, [
            ...[projectId, webhookId, toolCallId ?? null, url],
            ...[webhook.events, webhook.sealedSecret, webhook.keyId, webhook.createdBy],
          ]);
          const detail = { host: hostOf(url), events: [...webhook.events] };
          if (toolCallId === undefined)
            await recordActs(tx, by, [{ projectId, act: "webhook.created", subject: webhookId, detail }]);
          return row as WebhookRow;
        })
        .catch((error: unknown) => {
          if (error instanceof ToolplaneError && error.detail?.sqlstate === "23503")
            throw new ToolplaneError("not_found", `there is no project ${showName(projectId)}`);
          throw error;
        });
      doorbell.ring("registry");
      return webhookOf(added);
    },
    async list(projectId, { after, limit }) {
      return (await db.query<WebhookRow>(LIST_WEBHOOKS, [projectId, after, limit])).map(webhookOf);
    },
    async remove(projectId, webhookId, by) {
      const removed = await db.transaction(async (tx) => {
        const [row] = await tx.query<{ url: string }>(REMOVE_WEBHOOK, [projectId, webhookId]);
        if (row !== undefined)
          await recordActs(tx, by, [
            { projectId, act: "webhook.deleted", subject: webhookId, detail: { host: hostOf(row.url) } },
          ]);
        return row;
      });
      if (removed === undefined) throw notThere(projectId, webhookId);
    },
    async deliveries(projectId, webhookId, { before = NEWEST, limit, status }) {
      const values = [projectId, webhookId, before, status ?? null, limit];
      const rows = await db.query<DeliveryRow>(LIST_DELIVERIES, values);
      if (rows.length === 0 && (await db.query(HAS_WEBHOOK, [projectId, webhookId])).length === 0)
        throw notThere(projectId, webhookId);
      return rows.map(deliveryOf);
    },
    async replay(projectId, deliveryId, by) {
      const replayed = await db.transaction(async (tx) => {
        const [row] = await tx.query<DeliveryRow>(REPLAY_DELIVERY, [projectId, deliveryId]);
        if (row !== undefined)
          await recordActs(tx, by, [
            { projectId, act: "webhook.replayed", subject: deliveryId, detail: { webhook_id: row.webhook_id } },
          ]);
        return row;
      });
      if (replayed === undefined)
        throw new ToolplaneError("not_found", `project ${projectId} has no delivery ${showName(deliveryId)}`);
      doorbell.ring("registry");
      return deliveryOf(replayed);
    },
    async readers() {
      const rows = await db.query<{ project_id: string; position: string }>(READ_READERS);
      return rows.map((row) => ({ projectId: row.project_id, position: row.position }));
    },
    async read({ projectId, position }) {
      const page = await events.read(projectId, position);
      const next = page.at(-1)?.position;
      if (next === undefined) return undefined;
      const named = page.map(nameEvent).filter((event) => event !== undefined);
      const isMoved = await db.transaction(async (tx) => {
        const moved = await tx.query(MOVE_READER, [projectId, position, next]);
        if (moved.length === 0 || named.length === 0) return moved.length > 0;
        const calls = [...new Set(named.flatMap(({ toolCallId }) => toolCallId ?? []))];
        const listeners = (await tx.query<WebhookRow>(READ_LISTENERS, [projectId, calls])).map(webhookOf);
        const writes = named.flatMap((event) =>
          listeners
            .filter((listener) => isWanted(listener, event))
            .map(({ webhookId }) => writeOf(projectId, webhookId, event)),
        );
        for (let from = 0; from < writes.length; from += MAX_WRITES)
          await tx.query(ADD_DELIVERIES, bindDeliveries(writes.slice(from, from + MAX_WRITES)));
        await faults.at("webhook:before-commit");
        if (listeners.every((listener) => listener.toolCallId === null)) return true;
        const ended = named
          .filter(({ name }) => ENDS_OF_CALL.includes(name))
          .flatMap((event) => event.toolCallId ?? []);
        if (ended.length > 0) await tx.query(END_OF_CALLS, [projectId, ended]);
        return true;
      });
      await faults.at("webhook:after-commit");
      // Otherwise another process has told of these events before, and that process reads on.
      return isMoved ? { projectId, position: next } : undefined;
    },
    async claim({ keyId, max, leaseSeconds, underWay, perReceiver, perProject }) {
      const leaseId = ids.uuid();
      const rows = await db.query<ClaimedDeliveryRow>(CLAIM_DELIVERIES, [
        ...bindUnderWay(underWay),
        ...[leaseId, leaseSeconds, max, keyId, perReceiver, perProject],
      ]);
      return rows.map((row) => ({
        deliveryId: row.delivery_id,
        leaseId,
        projectId: row.project_id,
        webhookId: row.webhook_id,
        receiver: row.receiver,
        event: row.event,
        body: row.body,
        attempts: row.attempts,
        url: row.url,
        sealedSecret: row.secret,
      }));
    },
    async settle({ projectId, deliveryId, leaseId, attempts }, outcome) {
      await faults.at("webhook:before-settle");
      const key = [projectId, deliveryId, leaseId, outcome.status ?? null];
      if (outcome.taken) {
        await db.query(END_DELIVERED, key);
        await faults.at("webhook:after-settle");
        return { status: "delivered" };
      }
      const reason = outcome.reason.slice(0, MAX_REASON);
      const pause = outcome.final ? undefined : planPause(attempts);
      if (pause === undefined) {
        await db.query(END_DEAD, [...key, reason]);
        return { status: "dead" };
      }
      await db.query(PUT_OFF, [...key, reason, pause]);
      return { status: "pending", nextInSeconds: pause };
    },
    async nextDueMs() {
      const [row] = await db.query<{ due_ms: number | null }>(NEXT_DUE);
      return row?.due_ms ?? undefined;
    },
    async forget() {
      await db.query(DROP_OLD_DELIVERIES);
      await db.query(DROP_OLD_OF_CALLS);
      await db.query(DROP_READERS);
    },
  };
};
