// UI actions from a user interface that only knows the bus. They come where a bus beside the database carries commands;
// elsewhere people act over HTTP.
//   UI6. Every action that says who it is gets an acknowledgement; one that does not becomes a dead letter (W-28).
//   UI7. The command is acknowledged after its turn is written; a crash in between only repeats it.

import type { Clock, Engine, Ids } from "@toolplane/engine";
import {
  type CGContext,
  canonicalText,
  egress,
  ingress,
  isToolplaneError,
  type JsonObject,
  parseJsonStrict,
  stampHeaders,
  tryParseSubject,
  uiActionAckSubject,
} from "@toolplane/protocol";
import { type UiActionAck, uiActionSubscription } from "@toolplane/protocol/agents";
import { errorTrace } from "../worker/error-trace.ts";
import { actionIdOf } from "./plan-admission.ts";
import { createSubmitAction, type SubmitActionMeans } from "./submit-action.ts";

type Consume = NonNullable<Engine["carried"]>["consume"];
type Delivery = Parameters<Parameters<Consume>[1]>[0];

export interface UiActionsOptions extends SubmitActionMeans {
  readonly engine: SubmitActionMeans["engine"] & Pick<Engine, "bus" | "carried">;
  readonly ids: Ids;
  readonly clock: Clock;
}

export interface ListeningForActions {
  stop(options?: { readonly drainMs?: number | undefined }): Promise<void>;
}

const SENDER = "toolplane";
const HANDLERS_AT_ONCE = 16;
/** A database that restarts is back within these. */
const BACKOFF_MS = [200, 1_000, 5_000];
const MAX_DELIVER = 20;

interface Heard {
  readonly context: CGContext;
  readonly payload: Readonly<Record<string, unknown>>;
}

const hear = (delivery: Delivery, ids: Ids): Heard =>
  ingress(
    {
      subject: tryParseSubject(delivery.subject),
      headers: delivery.headers,
      payload: parseJsonStrict(delivery.payload),
    },
    ids,
  );

export const startUiActions = async (options: UiActionsOptions): Promise<ListeningForActions> => {
  const { engine, ids, clock, log } = options;
  if (engine.carried === undefined) return { stop: async () => {} };
  const submit = createSubmitAction(options);

  const publishAck = async (context: CGContext, ack: UiActionAck): Promise<void> => {
    const scope = { projectId: context.projectId, channelId: context.channelId };
    await engine.bus.publish([
      {
        subject: uiActionAckSubject(scope),
        headers: stampHeaders(egress(context, ids, "doorbell"), {
          timestampMs: clock.now(),
          msgType: "UiActionAckPayload",
          sender: SENDER,
        }),
        payload: canonicalText(ack as JsonObject),
        messageId: `ui_ack:${ack.action_id}:${ids.uuid()}`,
      },
    ]);
  };

  const handle = async (delivery: Delivery): Promise<void> => {
    let heard: Heard;
    try {
      heard = hear(delivery, ids);
    } catch (error) {
      log.warn("a user interface sent an action that cannot be read", {
        subject: delivery.subject,
        ...errorTrace(error),
      });
      await delivery.term(isToolplaneError(error) ? error.message : "it cannot be read");
      return;
    }
    const { context, payload } = heard;
    const actionId = actionIdOf(payload);
    if (actionId === undefined || context.agentId === "") {
      await delivery.term("an action names its action_id and its agent");
      return;
    }
    const { turn, ack } = await submit({ context, actionId, payload });
    // The turn itself says that the action was accepted. The same command again means that its first acknowledgement was lost.
    const isTold = turn !== undefined && (!turn.idempotent || delivery.attempt > 1);
    if (!isTold) await publishAck(context, ack);
  };

  const { pattern, durable } = uiActionSubscription();
  return engine.carried.consume(
    {
      durable,
      pattern: pattern.text,
      category: "cmd",
      maxInFlight: HANDLERS_AT_ONCE,
      maxDeliver: MAX_DELIVER,
      backoff: BACKOFF_MS,
    },
    handle,
  );
};
