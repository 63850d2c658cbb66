// A turn as a person follows it: the agent's words as they come, each step and each call on lines of its own. What a call was given and
// gave back is read when the call begins and ends, because events do not carry it.

import type { Body, Plane, TurnEvent } from "@toolplane/sdk/client";
import { textOf } from "./body.ts";
import type { CommandContext } from "./command.ts";
import { CALL_ENDS } from "./event-line.ts";
import { oneLine, plainText } from "./plain-text.ts";
import { callSpan, errorText } from "./show-call.ts";
import { shortValue } from "./show-turn.ts";
import { toneOf } from "./tone.ts";
import { isStopStep } from "./turn-outcome.ts";

export interface TurnShow {
  see(event: TurnEvent): Promise<void>;
  /** What the model said last, which is often what it delivers. */
  lastText(): string;
}

type CallEvent = Extract<TurnEvent, { readonly type: "call" }>;

const WORDS: Readonly<Record<string, string>> = {
  retried: "goes back to the queue",
  approval_wanted: "waits for a person",
  approval_decided: "was decided by a person",
};

export const createTurnShow = (
  { output, io }: CommandContext,
  plane: Pick<Plane, "read">,
  signal: AbortSignal,
): TurnShow => {
  const { paint } = output;
  let midLine = false;
  let said = "";
  const line = (text: string): void => {
    if (midLine) io.stdout.write("\n");
    midLine = false;
    output.line(text);
  };

  /** Following goes on without the arguments of one call: they can be looked up later. */
  const readCall = (id: string): Promise<Body> => plane.read(id, { wait: 0, signal }).catch(() => ({}));

  const ended = (call: Body, event: CallEvent): string => {
    const status = textOf(call, "status") ?? event.status;
    const took = callSpan(call);
    const what = errorText(call.error) ?? shortValue(call.result);
    return `${paint(toneOf(status), oneLine(status))}${took === undefined ? "" : ` in ${took}`}: ${shortValue(what)}`;
  };

  const seeCall = async (event: CallEvent): Promise<void> => {
    const name = paint("strong", oneLine(event.toolName));
    if (event.phase === "dispatched") {
      const call = await readCall(event.callId);
      line(`  ${name} ${shortValue(call.arguments ?? {})}  ${paint("faint", `call ${oneLine(event.callId)}`)}`);
    } else if (CALL_ENDS.has(event.phase)) {
      line(`  ${name} ${ended(await readCall(event.callId), event)}`);
    } else {
      const words = WORDS[event.phase];
      if (words === undefined) return;
      const todo =
        event.phase === "approval_wanted" ? `: toolplane calls approve ${oneLine(event.callId)}, or deny` : "";
      line(`  ${name} ${paint("attention", words)}${todo}`);
    }
  };

  return {
    lastText: () => said,
    async see(event) {
      if (output.json) {
        output.data({ subject: event.source.subject, payload: event.source.payload });
        return;
      }
      if (event.type === "step" && event.phase === "started") {
        said = "";
        line(paint("strong", `step ${oneLine(event.stepId.slice(event.stepId.lastIndexOf("_") + 1))}`));
      }
      if (event.type === "step" && event.phase === "failed")
        line(paint("bad", isStopStep(event.stepId) ? "  the turn was stopped" : "  the step failed"));
      if (event.type === "call") await seeCall(event);
      if (event.type === "part") line(`  ${paint("faint", `… ${shortValue(event.part)}`)}`);
      if (event.type !== "text" || event.text === "") return;
      io.stdout.write(plainText(event.text));
      said += event.text;
      midLine = !event.text.endsWith("\n");
    },
  };
};
