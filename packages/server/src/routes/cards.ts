// Cards and boxes, read only: they are written by calls, turns and tool services.

import { showName, ToolplaneError, toCardDto } from "@toolplane/protocol";
import { z } from "zod";
import { answerList, listText } from "../http/answer-list.ts";
import { refuseUnknownProject } from "../http/known-project.ts";
import { READERS, type Route, route } from "../http/route.ts";

const ids = z.array(z.string().min(1).max(128)).max(10_000);
const tail = z.coerce.number().int().min(1).max(500).optional();

const missing = (project: string, what: string, id: string): ToolplaneError =>
  new ToolplaneError("not_found", `project ${project} has no ${what} ${showName(id)}`);

export const cardRoutes: readonly Route[] = [
  route({
    method: "GET",
    path: "/projects/:project/cards/:card",
    roles: [...READERS, "tool"],
    handle: async ({ engine, params, context }) => {
      const [card] = await engine.cards.getCards(params.project ?? "", [params.card]);
      if (card === undefined) throw missing(params.project ?? "", "card", params.card ?? "");
      return context.json(toCardDto(card));
    },
  }),
  route({
    method: "POST",
    path: "/projects/:project/cards/batch",
    roles: READERS,
    body: z.strictObject({ card_ids: ids }),
    handle: async ({ engine, params, body, context }) => {
      const { cards, missingIds } = await engine.cards.getCardBatch(params.project ?? "", body.card_ids);
      if (cards.length === 0) await refuseUnknownProject(engine, params.project ?? "");
      return answerList(context, "cards", cards.map(toCardDto), { missing_ids: missingIds });
    },
  }),
  route({
    method: "GET",
    path: "/projects/:project/boxes/:box",
    roles: READERS,
    handle: async ({ engine, params, context }) => {
      const box = await engine.boxes.loadBox(params.project ?? "", params.box ?? "");
      if (box === undefined) throw missing(params.project ?? "", "box", params.box ?? "");
      return context.json({ box_id: box.boxId, card_ids: box.cardIds });
    },
  }),
  route({
    method: "GET",
    path: "/projects/:project/boxes/:box/cards",
    roles: READERS,
    query: z.strictObject({ limit: tail }),
    handle: async ({ engine, params, query, context }) => {
      const cards = await engine.boxes.loadBoxCards(params.project ?? "", params.box ?? "", query.limit);
      if (cards === undefined) throw missing(params.project ?? "", "box", params.box ?? "");
      return context.body(await listText(cards.map(toCardDto)), 200, { "Content-Type": "application/json" });
    },
  }),
  route({
    method: "POST",
    path: "/projects/:project/boxes/batch",
    roles: READERS,
    body: z.strictObject({
      box_ids: ids,
      hydrate: z.boolean().optional(),
      limit: z.number().int().min(1).max(500).optional(),
    }),
    handle: async ({ engine, params, body, context }) => {
      const batch = await engine.boxes.loadBoxes(params.project ?? "", body.box_ids, {
        hydrate: body.hydrate,
        limit: body.limit,
      });
      if (batch.boxes.length === 0) await refuseUnknownProject(engine, params.project ?? "");
      const boxes = batch.boxes.map((box) => ({
        box_id: box.boxId,
        card_ids: box.cardIds,
        card_count: box.length,
        truncated: box.truncated,
        ...(box.hydratedCards === undefined ? {} : { hydrated_cards: box.hydratedCards.map(toCardDto) }),
      }));
      const missing = { missing_box_ids: batch.missingBoxIds, missing_card_ids: batch.missingCardIds };
      return answerList(context, "boxes", boxes, missing);
    },
  }),
];
