// Lets a brain answer for the model: the same script drives an agent directly, or from behind a socket through the real client.
// The brain is typed by its shape, so that the test kit does not import its package.

import { isRecord, type JsonObject } from "@toolplane/protocol";
import type { ModelMessage, ModelToolSpec } from "@toolplane/protocol/agents";
import { type Profile, parseProfile } from "@toolplane/protocol/registry";
import type { ModelReply } from "./model-reply.ts";
import type { AnswerModel, ModelRequest } from "./model-server.ts";

export interface BrainLikeRequest {
  readonly projectId: string;
  readonly agentId: string;
  readonly agentTurnId: string;
  readonly stepId: string;
  readonly stepNumber: number;
  readonly profile: Profile;
  readonly system: string;
  readonly messages: readonly ModelMessage[];
  readonly tools: readonly ModelToolSpec[];
  readonly signal: AbortSignal;
  readonly onPiece: () => void;
}

export interface BrainLike {
  think(request: BrainLikeRequest): Promise<{
    readonly text: string;
    readonly reasoning?: string | undefined;
    readonly toolCalls: readonly {
      readonly id?: string | undefined;
      readonly name: string;
      readonly arguments: unknown;
    }[];
    readonly usage?: JsonObject | undefined;
  }>;
}

/** How the client marks its own notes among a user's messages. */
const NOTE_PREFIX = "System note: ";

const textOf = (content: unknown): string => {
  if (typeof content === "string") return content;
  if (!Array.isArray(content)) return "";
  return content.map((part) => (isRecord(part) && typeof part.text === "string" ? part.text : "")).join("");
};

const readMessage = (message: JsonObject): ModelMessage => {
  const content = textOf(message.content);
  if (message.role === "tool") return { role: "tool", tool_call_id: String(message.tool_call_id), content };
  if (message.role !== "assistant") return { role: String(message.role), content };
  return { role: "assistant", content, tool_calls: (message.tool_calls ?? []) as readonly JsonObject[] };
};

/** Steps made since the instruction. */
const stepNumberOf = (messages: readonly ModelMessage[]): number => {
  const instruction = messages.findLastIndex(
    ({ role, content }) => role === "user" && !content.startsWith(NOTE_PREFIX),
  );
  return 1 + messages.slice(instruction + 1).filter(({ role }) => role === "assistant").length;
};

const brainRequest = ({ body, messages, model, gone, number }: ModelRequest): BrainLikeRequest => {
  const all = messages.map(readMessage);
  const talk = all.filter(({ role }) => role !== "system");
  const stepNumber = stepNumberOf(talk);
  return {
    projectId: "model-server",
    agentId: model,
    agentTurnId: "turn_model_server",
    stepId: `step_${number}`,
    stepNumber,
    profile: parseProfile({ name: "model-server", worker_target: "none", llm_config: { model } }),
    system: all
      .filter(({ role }) => role === "system")
      .map(({ content }) => content)
      .join("\n\n"),
    messages: talk,
    tools: (body.tools ?? []) as unknown as readonly ModelToolSpec[],
    signal: gone,
    onPiece: () => {},
  };
};

/** Which brain answers is decided by the request, usually by its `model`. */
export const answerByBrain =
  (brainFor: (request: ModelRequest) => BrainLike): AnswerModel =>
  async (request): Promise<ModelReply> => {
    const wanted = brainRequest(request);
    const { text, reasoning, toolCalls, usage } = await brainFor(request).think(wanted);
    return {
      text,
      reasoning,
      usage: usage ?? { prompt_tokens: 10, completion_tokens: 5, total_tokens: 15 },
      // Providers name every call; with some of them the names repeat from answer to answer.
      toolCalls: toolCalls.map((call, index) => ({ ...call, id: call.id ?? `call_${index}` })),
    };
  };
