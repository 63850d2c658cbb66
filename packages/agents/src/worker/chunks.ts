// A brain's words while it speaks, on `str.agent.{agent}.chunk`: start, pieces, end. They are shown to listeners and nothing
// depends on them, so a piece that cannot be sent never fails the step.

import type { Engine, Log, Work } from "@toolplane/engine";
import { chunkStreamSubject, type JsonObject, type JsonValue, storableText } from "@toolplane/protocol";
import { type ChunkInput, encodeChunk } from "@toolplane/protocol/agents";
import type { Profile } from "@toolplane/protocol/registry";
import type { BrainAnswer, BrainPiece } from "../brains/brain.ts";

export interface ChunkStream {
  start(metadata: JsonObject): void;
  piece(piece: BrainPiece): void;
  end(answer: BrainAnswer | undefined, metadata: JsonObject): void;
}

export interface ChunkStreamOptions {
  readonly bus: Pick<Engine["bus"], "publishStream">;
  readonly log: Log;
  readonly work: Work;
  readonly stepId: string;
}

/** Settings that say how the model was asked; keys and options of a provider are not among them (I8). */
const SHOWN_SETTINGS = ["model", "temperature", "max_tokens", "top_p", "reasoning_effort"] as const;

export const shownSettings = ({ llm_config: config }: Pick<Profile, "llm_config">): JsonObject => {
  const shown: Record<string, JsonValue> = {};
  for (const key of SHOWN_SETTINGS) {
    const value = config[key];
    if (typeof value === "string" || typeof value === "number") shown[key] = value;
  }
  return shown;
};

export const SILENT_CHUNKS: ChunkStream = { start: () => {}, piece: () => {}, end: () => {} };

export const createChunkStream = ({ bus, log, work, stepId }: ChunkStreamOptions): ChunkStream => {
  const subject = chunkStreamSubject(work, work.agentId);
  let index = 0;
  const send = (chunk: Omit<ChunkInput, "agent_turn_id" | "step_id" | "index">): void => {
    const wire = encodeChunk({ agent_turn_id: work.agentTurnId, step_id: stepId, index: index++, ...chunk });
    try {
      bus.publishStream({ subject, payload: JSON.stringify(wire) });
    } catch (error) {
      log.warn("a chunk of the model's answer could not be published; watchers of the turn miss it", {
        agentTurnId: work.agentTurnId,
        stepId,
        cause: String(error),
      });
    }
  };
  return {
    start: (metadata) => {
      send({ chunk_type: "start", metadata });
    },
    piece: ({ kind, text }) => {
      if (text !== "") send({ chunk_type: kind, content: storableText(text) });
    },
    end: (answer, metadata) => {
      send({ chunk_type: "end", usage: answer?.usage, response_cost: answer?.cost, metadata });
    },
  };
};
