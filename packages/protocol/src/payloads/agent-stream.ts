// The lossy stream of an agent: pieces of a model's text (chunk) and of a tool's progress (part). Nothing depends on them.

import { z } from "zod";
import { jsonObject, jsonValue } from "../json/json-schemas.ts";
import type { JsonObject, JsonValue } from "../json/json-value.ts";

const id = z.string().min(1);

const CHUNK_TYPES = ["start", "content", "end", "reasoning", "tool_call"] as const;

export const chunkSchema = z.object({
  agent_turn_id: id,
  step_id: id,
  chunk_type: z.enum(CHUNK_TYPES),
  content: z.string().default(""),
  index: z.number().int().nonnegative().default(0),
  metadata: jsonObject.default({}),
  usage: jsonObject.default({}),
  response_cost: z.number().default(0),
});
export type ChunkInput = z.input<typeof chunkSchema>;

const isEmptyObject = (value: JsonObject): boolean => Object.keys(value).length === 0;

/** The wire form leaves out what equals its default: most chunks are a few characters of text. */
export const encodeChunk = (chunk: ChunkInput): JsonObject => {
  const wire: Record<string, JsonValue> = {
    agent_turn_id: chunk.agent_turn_id,
    step_id: chunk.step_id,
    chunk_type: chunk.chunk_type,
  };
  if (chunk.content !== undefined && chunk.content !== "") wire.content = chunk.content;
  if (chunk.index !== undefined && chunk.index !== 0) wire.index = chunk.index;
  if (chunk.metadata !== undefined && !isEmptyObject(chunk.metadata)) wire.metadata = chunk.metadata;
  if (chunk.usage !== undefined && !isEmptyObject(chunk.usage)) wire.usage = chunk.usage;
  if (chunk.response_cost !== undefined && chunk.response_cost !== 0) wire.response_cost = chunk.response_cost;
  return wire;
};

export const partSchema = z.object({
  agent_turn_id: id,
  tool_call_id: id,
  /** Counts the parts of one call from 0, so that a reader sees gaps and order. */
  index: z.number().int().nonnegative(),
  part: jsonValue,
});
export type Part = z.infer<typeof partSchema>;
