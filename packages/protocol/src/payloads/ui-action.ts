// What a user interface sends, and the acknowledgement it gets.

import { z } from "zod";
import { jsonObject } from "../json/json-schemas.ts";
import { isRecord, type JsonObject } from "../json/json-value.ts";

const filled = z.string().refine((text) => text.trim() !== "", "must not be blank");

/** Arguments come inline here and only here: the card is written by the worker that admits the action. */
export const uiActionSchema = z.object({
  action_id: filled,
  tool_name: filled,
  args: jsonObject,
  message_id: z.string().optional(),
  metadata: jsonObject.optional(),
});

export type UiActionPayload = z.infer<typeof uiActionSchema>;

/** The action's metadata is merged into its arguments; a key that the arguments already have is kept. */
export const mergeActionMetadata = (action: UiActionPayload): JsonObject => {
  if (action.metadata === undefined) return action.args;
  const own = isRecord(action.args.metadata) ? (action.args.metadata as JsonObject) : {};
  return { ...action.args, metadata: { ...action.metadata, ...own } };
};

export const UI_ACK_STATUSES = ["accepted", "busy", "rejected", "done"] as const;
export type UiAckStatus = (typeof UI_ACK_STATUSES)[number];

export const uiActionAckSchema = z.object({
  action_id: filled,
  agent_id: filled,
  status: z.enum(UI_ACK_STATUSES),
  message_id: z.string().optional(),
  tool_result_card_id: z.string().optional(),
  error_code: z.string().optional(),
  error: z.string().optional(),
});

export type UiActionAck = z.infer<typeof uiActionAckSchema>;
