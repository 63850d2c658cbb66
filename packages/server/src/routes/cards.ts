// Cards and boxes, read only: calls, turns and tool services write them. In a batch, and in a box that the caller's turn shares
// with earlier ones, cards of others are missing.

import { cursorOf } from "@toolplane/engine";
import { type Card, distinctIds, showName, ToolplaneError, toCardDto } from "@toolplane/protocol";
import { z } from "zod";
import { planBoxPage } from "../cards/box-page.ts";
import { cardBody, cardPieceBody, DEFAULT_PIECE, MAX_PIECE, planCardPiece } from "../cards/card-body.ts";
import { showCards } from "../cards/shown-cards.ts";
import { answerItems, answerList } from "../http/answer-list.ts";
import { text } from "../http/answers.ts";
import { refuseUnknownProject } from "../http/known-project.ts";
import { keyOfCursor } from "../http/page-query.ts";
import { LARGE_BODY_BYTES, READERS, type Route, route } from "../http/route.ts";

const MAX_IDS = 10_000;
const ids = z.array(z.string().min(1).max(128)).max(MAX_IDS);
const tail = z.coerce.number().int().min(1).max(500).optional();

const DEFAULT_TAIL = 200;

const missing = (project: string, what: string, id: string): ToolplaneError =>
  new ToolplaneError("not_found", `project ${project} has no ${what} ${showName(id)}`);

/** In the order asked. A card of another owner looks like one that does not exist. */
const missingOf = (asked: readonly string[], found: readonly string[], visible: ReadonlySet<string>): string[] => {
  const shown = new Set(found.filter((id) => visible.has(id)));
  return distinctIds(asked).filter((id) => !shown.has(id));
};

export const cardRoutes: readonly Route[] = [
  route({
    method: "GET",
    path: "/projects/:project/cards/:card",
    roles: READERS,
    gives: "card",
    summary: "One card; with `offset` or `length`, a piece of its content's JSON text.",
    query: z.strictObject({
      offset: z.coerce.number().int().min(0).optional().meta({ description: "From this character on." }),
      length: z.coerce
        .number()
        .int()
        .min(1)
        .max(MAX_PIECE)
        .optional()
        .meta({ description: "So many characters at most." }),
    }),
    answers: { 200: z.union([cardBody, cardPieceBody]) },
    handle: async ({ engine, params, query, reply }) => {
      const found = await engine.cards.getCards(params.project ?? "", [params.card]);
      const [card] = await showCards(engine, params.project ?? "", found);
      if (card === undefined) throw missing(params.project ?? "", "card", params.card ?? "");
      const shown = toCardDto(card);
      const { offset, length = DEFAULT_PIECE } = query;
      if (offset === undefined && query.length === undefined) return reply(200, shown);
      return reply(200, planCardPiece(shown, offset ?? 0, length));
    },
  }),
  route({
    method: "POST",
    path: "/projects/:project/cards/batch",
    roles: READERS,
    gives: "own",
    summary: "Many cards by their ids.",
    body: z.strictObject({ card_ids: z.array(z.string().max(128).nullable()).max(MAX_IDS) }),
    answers: {
      200: z.strictObject({
        cards: z.array(cardBody),
        missing_ids: z.array(text),
        omitted_ids: z.array(text).optional(),
      }),
    },
    maxBytes: LARGE_BODY_BYTES,
    handle: async (call) => {
      const { engine, params, body, own } = call;
      // Empty ids name nothing, so they are not missing either.
      const asked = body.card_ids.flatMap((id) => (id === null || id === "" ? [] : [id]));
      const { cards, omittedIds } = await engine.cards.getCardBatch(params.project ?? "", asked);
      if (cards.length === 0) await refuseUnknownProject(engine, params.project ?? "");
      const found = cards.map(({ card_id }) => card_id);
      const visible = await own.among("card", [...found, ...omittedIds]);
      const held = cards.filter(({ card_id }) => visible.has(card_id));
      const shown = await showCards(engine, params.project ?? "", held);
      const omitted = omittedIds.filter((id) => visible.has(id));
      const missing = missingOf(asked, [...found, ...omitted], visible);
      const left = omitted.length === 0 ? {} : { omitted_ids: omitted };
      return answerList(call, "cards", shown.map(toCardDto), { missing_ids: missing, ...left });
    },
  }),
  route({
    method: "GET",
    path: "/projects/:project/boxes/:box",
    roles: READERS,
    gives: "box",
    summary: "The ids of the cards in a box, oldest first.",
    answers: { 200: z.strictObject({ box_id: text, card_ids: z.array(text) }) },
    handle: async (call) => {
      const { engine, params, own } = call;
      const box = await engine.boxes.loadBox(params.project ?? "", params.box ?? "");
      if (box === undefined) throw missing(params.project ?? "", "box", params.box ?? "");
      const visible = await own.among("card", box.cardIds);
      const shown = box.cardIds.filter((id) => visible.has(id));
      return answerList(call, "card_ids", shown, { box_id: box.boxId });
    },
  }),
  route({
    method: "GET",
    path: "/projects/:project/boxes/:box/cards",
    roles: READERS,
    gives: "box",
    summary: "The newest cards of a box, oldest first; with a cursor, those before.",
    query: z.strictObject({
      limit: tail.meta({ description: "How many at most; 200 unless given." }),
      cursor: z.string().max(1_024).optional().meta({
        description: "`Toolplane-Next-Cursor` of an answer with `Toolplane-Truncated: true`: the cards before those.",
      }),
    }),
    answers: { 200: z.array(cardBody) },
    handle: async (call) => {
      const { engine, params, query, own, context } = call;
      const box = await engine.boxes.loadBox(params.project ?? "", params.box ?? "");
      if (box === undefined) throw missing(params.project ?? "", "box", params.box ?? "");
      const page = planBoxPage(box.cardIds, query.limit ?? DEFAULT_TAIL, keyOfCursor(query.cursor));
      // The newest first: when an answer would be too large, the oldest are left out.
      const fitting = await engine.cards.firstThatFit(params.project ?? "", page.cardIds.toReversed());
      const from = page.cardIds.length - fitting.length;
      const cards = await engine.cards.getCards(params.project ?? "", fitting.toReversed());
      const visible = await own.among(
        "card",
        cards.map(({ card_id }) => card_id),
      );
      const held = cards.filter(({ card_id }) => visible.has(card_id));
      const shown = await showCards(engine, params.project ?? "", held);
      if (page.start + from > 0) {
        context.header("Toolplane-Truncated", "true");
        context.header("Toolplane-Next-Cursor", cursorOf(String(page.start + from)));
      }
      return answerItems(call, shown.map(toCardDto));
    },
  }),
  route({
    method: "POST",
    path: "/projects/:project/boxes/batch",
    roles: READERS,
    gives: "own",
    summary: "Many boxes by their ids, with their cards if asked.",
    answers: {
      200: z.strictObject({
        boxes: z.array(
          z.strictObject({
            box_id: text,
            card_ids: z.array(text),
            card_count: z.int(),
            truncated: z.boolean(),
            hydrated_cards: z.array(cardBody).optional(),
          }),
        ),
        missing_box_ids: z.array(text),
        missing_card_ids: z.array(text),
      }),
    },
    body: z.strictObject({
      box_ids: ids,
      hydrate: z.boolean().optional(),
      limit: z.number().int().min(1).max(500).optional(),
    }),
    maxBytes: LARGE_BODY_BYTES,
    handle: async (call) => {
      const { engine, params, body, own } = call;
      const batch = await engine.boxes.loadBoxes(params.project ?? "", body.box_ids, {
        hydrate: body.hydrate,
        limit: body.limit,
      });
      if (batch.boxes.length === 0) await refuseUnknownProject(engine, params.project ?? "");
      const found = batch.boxes.map(({ boxId }) => boxId);
      const visible = await own.among("box", found);
      const shown = batch.boxes.filter(({ boxId }) => visible.has(boxId));
      const held = await own.among("card", distinctIds(shown.flatMap(({ cardIds }) => cardIds)));
      const hydrate = async (cards: readonly Card[] | undefined): Promise<readonly Card[] | undefined> => {
        const kept = cards?.filter(({ card_id }) => held.has(card_id));
        return kept === undefined ? undefined : showCards(engine, params.project ?? "", kept);
      };
      const hydratedBoxes = await Promise.all(shown.map(async ({ hydratedCards }) => hydrate(hydratedCards)));
      const boxes = shown.map((box, index) => {
        const cardIds = box.cardIds.filter((id) => held.has(id));
        const hydrated = hydratedBoxes[index];
        return {
          box_id: box.boxId,
          card_ids: cardIds,
          // Cards of others are not counted either.
          card_count: box.length - (box.cardIds.length - cardIds.length),
          truncated: box.truncated,
          ...(hydrated === undefined ? {} : { hydrated_cards: hydrated.map(toCardDto) }),
        };
      });
      const missing = {
        missing_box_ids: missingOf(body.box_ids, found, visible),
        missing_card_ids: batch.missingCardIds.filter((id) => held.has(id)),
      };
      return answerList(call, "boxes", boxes, missing);
    },
  }),
];
