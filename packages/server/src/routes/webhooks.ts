// Webhooks of a project, for its operators: made, listed, deleted; what was sent to them, and sending it again.

import { type Delivery, ENDS_OF_CALL, type Webhook } from "@toolplane/engine";
import { z } from "zod";
import { actorOf } from "../http/actor-of.ts";
import { answerPage } from "../http/answer-page.ts";
import { cursorAfter, keyOfCursor, pageQuery } from "../http/page-query.ts";
import { OPERATORS, type Route, route } from "../http/route.ts";
import { webhooksAreOff } from "../webhooks/webhook-door.ts";

const webhookBody = ({ projectId, webhookId, url, events, createdBy, createdAt }: Webhook) => ({
  project_id: projectId,
  webhook_id: webhookId,
  url,
  events,
  created_by: createdBy,
  created_at: createdAt.toISOString(),
});

const deliveryBody = (delivery: Delivery) => ({
  delivery_id: delivery.deliveryId,
  webhook_id: delivery.webhookId,
  event: delivery.event,
  status: delivery.status,
  attempts: delivery.attempts,
  next_attempt_at: delivery.status === "pending" ? delivery.availableAt.toISOString() : null,
  last_status: delivery.lastStatus,
  last_error: delivery.lastError,
  created_at: delivery.createdAt.toISOString(),
  ended_at: delivery.endedAt?.toISOString() ?? null,
});

const P = "/projects/:project";

export const webhookRoutes: readonly Route[] = [
  route({
    method: "POST",
    path: `${P}/webhooks`,
    roles: OPERATORS,
    gives: "project",
    body: z.strictObject({
      url: z.string().min(1).max(2_048),
      events: z.array(z.string().min(1).max(64)).min(1).max(20).optional(),
      secret: z.string().min(1).max(256),
    }),
    handle: async ({ engine, webhooks, params, body, caller, context }) => {
      if (webhooks === undefined) throw webhooksAreOff();
      const projectId = params.project ?? "";
      const accepted = webhooks.accept(projectId, { ...body, events: body.events ?? ENDS_OF_CALL });
      const by = actorOf(caller);
      return context.json(
        webhookBody(await engine.webhooks.create({ ...accepted, projectId, createdBy: by.actor }, by)),
        201,
      );
    },
  }),
  route({
    method: "GET",
    path: `${P}/webhooks`,
    roles: OPERATORS,
    gives: "project",
    query: pageQuery,
    handle: async (call) => {
      const { engine, params, query } = call;
      const limit = query.limit ?? 100;
      const after = keyOfCursor(query.cursor) ?? "";
      const items = await engine.webhooks.list(params.project ?? "", { after, limit });
      const ids = items.map(({ webhookId }) => webhookId);
      return answerPage(call, items.map(webhookBody), cursorAfter(ids, limit));
    },
  }),
  route({
    method: "DELETE",
    path: `${P}/webhooks/:webhook`,
    roles: OPERATORS,
    gives: "project",
    handle: async ({ engine, params, caller, context }) => {
      await engine.webhooks.remove(params.project ?? "", params.webhook ?? "", actorOf(caller));
      return context.body(null, 204);
    },
  }),
  route({
    method: "GET",
    path: `${P}/webhooks/:webhook/deliveries`,
    roles: OPERATORS,
    gives: "project",
    query: pageQuery.extend({ status: z.enum(["pending", "delivered", "dead"]).optional() }),
    handle: async (call) => {
      const { engine, params, query } = call;
      const limit = query.limit ?? 100;
      const page = { before: keyOfCursor(query.cursor), limit, status: query.status };
      const items = await engine.webhooks.deliveries(params.project ?? "", params.webhook ?? "", page);
      const ids = items.map(({ deliveryId }) => deliveryId);
      return answerPage(call, items.map(deliveryBody), cursorAfter(ids, limit));
    },
  }),
  route({
    method: "POST",
    path: `${P}/webhook-deliveries/:delivery/replay`,
    roles: OPERATORS,
    gives: "project",
    handle: async ({ engine, params, caller, context }) =>
      context.json(
        deliveryBody(await engine.webhooks.replay(params.project ?? "", params.delivery ?? "", actorOf(caller))),
      ),
  }),
];
