// A brain that is a model of the `ai` SDK. One answer per step, in at most three attempts; it keeps no state and no key.

import { isRecord, type JsonValue, type ToolplaneError } from "@toolplane/protocol";
import { type Clock, createScrubber, type Log, type Scrubber, silentLog } from "@toolplane/sdk";
import type { Brain, BrainAnswer, BrainRequest, BrainToolCall } from "../brain.ts";
import { canceled } from "../unless-aborted.ts";
import { type Attempt, withAttempts } from "./attempts.ts";
import { callSettings } from "./call-settings.ts";
import { chooseModel, type LlmConfig, type ModelChoice } from "./choose-model.ts";
import { silent, understandModelFailure } from "./model-failure.ts";
import { toSdkMessages } from "./model-messages.ts";
import { openModel } from "./open-model.ts";
import { createPieceScrubber } from "./piece-scrubber.ts";
import { askOnce, askStream, type ModelAnswer } from "./read-answer.ts";
import { type BrainSecret, readKey } from "./read-key.ts";
import { watchSilence } from "./silence.ts";
import { costOf, usageOf } from "./usage.ts";
import { createWatchedFetch } from "./watched-fetch.ts";

export interface AiBrainOptions {
  readonly secret: BrainSecret;
  readonly clock: Clock;
  /** The way out to the network; its maker sets the policy. */
  readonly fetch: typeof globalThis.fetch;
  readonly log?: Log | undefined;
}

/** How long an endpoint may be silent. Some models think for minutes before they write. */
const DEFAULT_SILENCE_MS = 300_000;

/** The endpoint sends its own name, which may have any length. */
const MAX_MODEL_NAME = 200;

const silenceMs = ({ provider_options: options }: LlmConfig): number => {
  const seconds = options?.timeout_seconds;
  return typeof seconds === "number" && seconds > 0 ? seconds * 1000 : DEFAULT_SILENCE_MS;
};

const wantsUsage = ({ stream_options: options }: LlmConfig): boolean => options?.include_usage !== false;

const scrubCall = (call: BrainToolCall, scrubber: Scrubber): BrainToolCall => ({
  ...call,
  arguments:
    isRecord(call.arguments) || typeof call.arguments === "string"
      ? scrubber.value(call.arguments as JsonValue)
      : call.arguments,
});

const finish = (answer: ModelAnswer, config: LlmConfig, choice: ModelChoice, scrubber: Scrubber): BrainAnswer => {
  const usage = usageOf(answer.usage);
  const cost = costOf(answer.usage, config);
  return {
    text: scrubber.text(answer.text),
    toolCalls: answer.toolCalls.map((call) => scrubCall(call, scrubber)),
    model: scrubber.text(answer.model ?? choice.model).slice(0, MAX_MODEL_NAME),
    ...(answer.reasoning === "" ? {} : { reasoning: scrubber.text(answer.reasoning) }),
    ...(usage === undefined ? {} : { usage }),
    ...(cost === undefined ? {} : { cost }),
  };
};

export const createAiBrain = (config: LlmConfig, options: AiBrainOptions): Brain => {
  const { secret, clock, log = silentLog } = options;
  const choice = chooseModel(config);

  const attempt = async (request: BrainRequest, key: string | undefined): Promise<Attempt<ModelAnswer>> => {
    const watch = watchSilence(clock, silenceMs(config));
    const pieces = createPieceScrubber(key, request.onPiece);
    const model = openModel(choice, {
      key,
      fetch: createWatchedFetch({ fetch: options.fetch, onLife: watch.alive }),
      includeUsage: wantsUsage(config),
      onWarning: (setting) => log.warn("a setting of the model is not used", { setting, model: choice.model }),
    });
    try {
      const answer = await (config.stream ? askStream : askOnce)({
        model,
        system: request.system,
        messages: toSdkMessages(request.messages, choice.provider === "compatible"),
        settings: callSettings(config, choice, request.tools),
        signal: AbortSignal.any([request.signal, watch.signal]),
        onPiece: pieces.push,
      });
      pieces.flush();
      return { answer };
    } catch (error) {
      return { failure: watch.signal.aborted ? silent() : understandModelFailure(error, clock.now()) };
    } finally {
      watch.end();
    }
  };

  return {
    async think(request) {
      if (request.signal.aborted) throw canceled();
      const key = await readKey(choice, request.projectId, secret);
      const scrubber = createScrubber(new Map(key === undefined ? [] : [["KEY", key]]));
      const onRetry = (count: number, { code }: ToolplaneError): void =>
        log.warn("a model is asked again", { attempt: count, code, model: choice.model });
      const answer = await withAttempts({ clock, signal: request.signal, onRetry }, () => attempt(request, key));
      return finish(answer, config, choice, scrubber);
    },
  };
};
