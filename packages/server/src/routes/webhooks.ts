// Webhooks of a project, for its operators: made, listed, deleted; what was sent to them, and sending it again.

import { type Delivery, ENDS_OF_CALL, type Webhook } from "@toolplane/engine";
import { z } from "zod";
import { actorOf } from "../http/actor-of.ts";
import { answerPage } from "../http/answer-page.ts";
import { type BodyOf, NOTHING, pageOf, text, textOrNull, time, timeOrNull } from "../http/answers.ts";
import { refuseUnknownProject } from "../http/known-project.ts";
import { cursorAfter, keyOfCursor, pageQuery } from "../http/page-query.ts";
import { OPERATORS, type Route, route } from "../http/route.ts";
import { DELIVERY_STATUSES } from "../http/statuses.ts";
import { webhooksAreOff } from "../webhooks/webhook-door.ts";

const webhookShape = z
  .strictObject({
    project_id: text,
    webhook_id: text,
    url: text,
    events: z.array(text),
    created_by: text,
    created_at: time,
  })
  .meta({ id: "Webhook" });

const deliveryShape = z
  .strictObject({
    delivery_id: text,
    webhook_id: textOrNull,
    event: text,
    status: z.enum(DELIVERY_STATUSES),
    attempts: z.int(),
    next_attempt_at: timeOrNull,
    last_status: z.int().nullable(),
    last_error: textOrNull,
    created_at: time,
    ended_at: timeOrNull,
  })
  .meta({ id: "WebhookDelivery" });

const webhookBody = ({
  projectId,
  webhookId,
  url,
  events,
  createdBy,
  createdAt,
}: Webhook): BodyOf<typeof webhookShape> => ({
  project_id: projectId,
  webhook_id: webhookId,
  url,
  events,
  created_by: createdBy,
  created_at: createdAt.toISOString(),
});

const deliveryBody = (delivery: Delivery): BodyOf<typeof deliveryShape> => ({
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
    summary: "Makes a webhook; its secret signs what is sent and is never shown.",
    answers: { 201: webhookShape },
    body: z.strictObject({
      url: z.string().min(1).max(2_048),
      events: z.array(z.string().min(1).max(64)).min(1).max(20).optional(),
      secret: z.string().min(1).max(256),
    }),
    handle: async ({ engine, webhooks, params, body, caller, reply }) => {
      const projectId = params.project ?? "";
      await refuseUnknownProject(engine, projectId);
      if (webhooks === undefined) throw webhooksAreOff();
      const accepted = webhooks.accept(projectId, { ...body, events: body.events ?? ENDS_OF_CALL });
      const by = actorOf(caller);
      return reply(201, webhookBody(await engine.webhooks.create({ ...accepted, projectId, createdBy: by.actor }, by)));
    },
  }),
  route({
    method: "GET",
    path: `${P}/webhooks`,
    roles: OPERATORS,
    gives: "project",
    summary: "The webhooks of a project.",
    query: pageQuery,
    answers: { 200: pageOf(webhookShape) },
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
    summary: "Deletes a webhook.",
    answers: { 204: NOTHING },
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
    summary: "What was sent to a webhook, newest first.",
    answers: { 200: pageOf(deliveryShape) },
    query: pageQuery.extend({ status: z.enum(DELIVERY_STATUSES).optional() }),
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
    summary: "Sends a delivery again.",
    answers: { 200: deliveryShape },
    handle: async ({ engine, params, caller, reply }) =>
      reply(
        200,
        deliveryBody(await engine.webhooks.replay(params.project ?? "", params.delivery ?? "", actorOf(caller))),
      ),
  }),
];
