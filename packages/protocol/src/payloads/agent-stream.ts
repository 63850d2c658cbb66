// The lossy stream of an agent: pieces of a model's text (chunk) and of a tool's progress (part). Nothing depends on them.

import { z } from "zod";
import { parseWith } from "../errors/parse-with.ts";
import { jsonObject, jsonValue } from "../json/json-schemas.ts";
import type { JsonObject, JsonValue } from "../json/json-value.ts";
import { parseLenient } from "./lenient-object.ts";

const id = z.string().min(1);

export const CHUNK_TYPES = ["start", "content", "end", "reasoning", "tool_call"] as const;
export type ChunkType = (typeof CHUNK_TYPES)[number];

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

export type Chunk = z.infer<typeof chunkSchema>;
export type ChunkInput = z.input<typeof chunkSchema>;

export const parseChunk = (input: unknown): Chunk => parseLenient(chunkSchema, input, "chunk");

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
  /** Counts the parts of one call from 0; a reader sees gaps and order by it. */
  index: z.number().int().nonnegative(),
  part: jsonValue,
});

export type Part = z.infer<typeof partSchema>;

/** Every field is required and a part may be null, so null is a value here. */
export const parsePart = (input: unknown): Part => parseWith(partSchema, input, "part");
