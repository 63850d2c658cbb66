// One call on the terminal: what was asked, what came of it, who had it and when, then the cause of a failure.

import { isRecord } from "@toolplane/protocol";
import { type Body, isOver } from "@toolplane/sdk/client";
import { cellOf, textOf } from "./body.ts";
import type { CommandContext } from "./command.ts";
import type { Field } from "./output.ts";
import { spanOf } from "./time-text.ts";
import { toneOf } from "./tone.ts";

const listOf = (value: unknown): readonly string[] => (Array.isArray(value) ? value.map(String) : []);

/** `code: default, key: variable API_KEY`: the values that the caller did not send. Null when it sent all. */
const layersText = (call: Body): string | null => {
  const layers = isRecord(call.argument_layers) ? call.argument_layers : {};
  const envs = isRecord(layers.envs) ? Object.entries(layers.envs) : [];
  const parts = [
    ...listOf(layers.defaults).map((name) => `${name}: default`),
    ...listOf(layers.fixed).map((name) => `${name}: fixed`),
    ...envs.map(([name, variable]) => `${name}: variable ${String(variable)}`),
  ];
  return parts.length === 0 ? null : parts.join(", ");
};

/** How a lease ended, in words where the word alone says too little. */
const ENDED: Readonly<Record<string, string>> = {
  lapsed: "lapsed: the service was not heard in time; look into its log, and whether the plane or the network was away",
  released: "given back by the service",
};

const endedText = (lease: Body): string => {
  const ended = textOf(lease, "ended");
  const code = textOf(lease, "error_code");
  return `${ended === undefined ? "held" : (ENDED[ended] ?? ended)}${code === undefined ? "" : ` with ${code}`}`;
};

/** A line for each time that a service had it. */
const leasesOf = (call: Body): readonly Field[] =>
  (Array.isArray(call.leases) ? call.leases : []).filter(isRecord).map((lease, index) => {
    const holder = textOf(lease, "holder") ?? "?";
    const span = `${textOf(lease, "started_at") ?? "?"} to ${textOf(lease, "ended_at") ?? "now"}`;
    const took = spanOf(lease, "started_at", "ended_at");
    return [
      `lease ${index + 1}`,
      `attempt ${cellOf(lease, "attempt") ?? "?"}, ${holder}, ${span}${took === undefined ? "" : ` (${took})`}, ${endedText(lease)}`,
    ];
  });

/** `tool_error: what it said`, and what the tool added to it. */
export const errorText = (error: unknown): string | null => {
  if (!isRecord(error)) return null;
  const detail =
    isRecord(error.detail) && Object.keys(error.detail).length > 0 ? ` ${JSON.stringify(error.detail)}` : "";
  return `${textOf(error, "code") ?? "unknown_error"}: ${textOf(error, "message") ?? "no message"}${detail}`;
};

/** `approved by ana at 2030-01-01T10:00:00.000Z: it is agreed`. Null when no person decided. */
const approvalText = ({ approval }: Body): string | null => {
  if (!isRecord(approval)) return null;
  const [verdict, by, at] = ["verdict", "by", "decided_at"].map((name) => textOf(approval, name) ?? "?");
  const reason = textOf(approval, "reason");
  return `${verdict} by ${by} at ${at}${reason === undefined ? "" : `: ${reason}`}`;
};

/** The one duration of a call, wherever it is shown: from the request for it to its settlement. */
export const callSpan = (call: Body): string | undefined => spanOf(call, "created_at", "settled_at");

const tookOf = (call: Body): string | null => {
  const whole = callSpan(call);
  const waited = spanOf(call, "created_at", "started_at");
  if (whole === undefined) return null;
  const said = `${whole} from asked to settled`;
  if (waited === undefined) return `${said}; it never started`;
  const attempts = Number(call.attempts ?? 1);
  return attempts > 1 ? `${said}; attempt ${attempts} began after ${waited}` : `${said}, of which it waited ${waited}`;
};

export const showCall = ({ output }: CommandContext, call: Body): void => {
  if (output.json) {
    output.data(call);
    return;
  }
  const status = textOf(call, "status");
  const error = errorText(call.error);
  output.fields([
    ["call", call.tool_call_id],
    ["status", status, toneOf(status)],
    ["tool", `${textOf(call, "tool_name") ?? "?"} (version ${cellOf(call, "tool_version") ?? "?"})`],
    ["arguments", call.arguments],
    ["not sent", layersText(call)],
    ["result", error === null ? call.result : null],
    ["error", error, "bad"],
    ["agent", call.agent_id],
    ["target", call.target],
    ["approval", approvalText(call)],
    ["attempts", call.attempts],
    ["lease", call.lease],
    ...leasesOf(call),
    ["took", tookOf(call)],
    ["created", call.created_at],
    ["not before", isOver(call) ? null : call.available_at],
    ["started", call.started_at],
    ["settled", call.settled_at],
    ["settled by", call.settled_by],
    ["retry of", call.retry_of],
    ["key", call.idempotency_key],
    ["turn", call.agent_turn_id],
    ["trace", call.trace_id],
    ["call card", call.tool_call_card_id],
    ["result card", call.tool_result_card_id],
  ]);
  if (!isRecord(call.diagnostics)) return;
  // A call that succeeded after failures keeps the last of them.
  output.line(output.paint("strong", status === "success" ? "before it succeeded" : "cause"));
  output.foreign(textOf(call.diagnostics, "stack") ?? "");
};
