// The collection of misbehaving tool hosts: what each does, and how a call of its tool `bad` must end.

import { fileURLToPath } from "node:url";
import type { ErrorCode } from "@toolplane/protocol";
import { tryFindCompiled } from "../program-argv.ts";

export interface BadHost {
  readonly name: string;
  readonly what: string;
  /** How a call of `bad` ends, the first time, for a tool that is not safe to run again. */
  readonly ends: "success" | ErrorCode;
  /** It speaks the extensions. */
  readonly extended?: boolean;
  /** The call is given only this long: without a deadline it would not end. */
  readonly deadlineMs?: number;
  /** What else is reported about it. */
  readonly diagnostics?: readonly string[];
}

const SHORT_MS = 400;

export const BAD_HOSTS: readonly BadHost[] = [
  { name: "honest", what: "behaves", ends: "success" },
  { name: "pollution", what: "prints to stdout", ends: "success", diagnostics: ["stray_output", "unexpected_request"] },
  { name: "half_lines", what: "writes three bytes at a time", ends: "success" },
  {
    name: "long_line",
    what: "answers with a line of 100 MB",
    ends: "result_too_large",
    diagnostics: ["line_too_long"],
  },
  { name: "long_line_id_last", what: "answers with 20 MB, id last", ends: "result_too_large", extended: true },
  { name: "long_event", what: "sends a part of 20 MB", ends: "result_too_large" },
  { name: "endless_line", what: "writes without a line feed for ever", ends: "result_too_large" },
  { name: "wrong_version", what: "answers with v 2", ends: "protocol_violation", diagnostics: ["unreadable_message"] },
  { name: "wrong_shape", what: "answers without a success flag", ends: "protocol_violation" },
  { name: "no_result", what: "answers ok without a result", ends: "protocol_violation" },
  { name: "duplicate_ids", what: "answers three times", ends: "success", diagnostics: ["already_answered"] },
  { name: "unknown_ids", what: "answers ids nobody sent", ends: "success", diagnostics: ["unknown_id", "host_error"] },
  { name: "late_events", what: "sends a part after the answer", ends: "success", diagnostics: ["already_answered"] },
  { name: "odd_events", what: "sends events nobody knows", ends: "success", diagnostics: ["unreadable_message"] },
  { name: "invalid_utf8", what: "answers with bytes that are not text", ends: "protocol_violation" },
  { name: "deep_result", what: "answers 5,000 levels deep", ends: "protocol_violation" },
  { name: "proto_key", what: "answers with a __proto__ key", ends: "success" },
  { name: "throws", what: "answers with an error and a stack", ends: "internal_error" },
  { name: "says_no", what: "answers that it did not work", ends: "tool_error" },
  { name: "no_newline_at_the_end", what: "answers and exits without a line feed", ends: "success" },
  { name: "never_answers", what: "never answers", ends: "tool_timeout", deadlineMs: SHORT_MS, diagnostics: ["killed"] },
  { name: "ignores_sigterm", what: "never answers, ignores SIGTERM", ends: "tool_timeout", deadlineMs: SHORT_MS },
  { name: "ignores_cancel", what: "ignores cancel", ends: "tool_timeout", deadlineMs: SHORT_MS, extended: true },
  { name: "blocks", what: "blocks its event loop", ends: "tool_timeout", deadlineMs: SHORT_MS, extended: true },
  { name: "dies_mid_call", what: "exits during the call", ends: "outcome_unknown", diagnostics: ["crashed"] },
  { name: "dies_at_init", what: "exits at init", ends: "upstream_unavailable" },
  { name: "refuses_init", what: "answers init with an error", ends: "upstream_unavailable" },
  { name: "silent_at_init", what: "never answers init", ends: "upstream_unavailable" },
  { name: "dies_at_hello", what: "exits at hello", ends: "success", diagnostics: ["plain_v1"] },
  { name: "silent_on_hello", what: "never answers hello", ends: "success", diagnostics: ["plain_v1"] },
  { name: "closes_stdout", what: "closes its stdout", ends: "outcome_unknown", diagnostics: ["crashed"] },
  { name: "closes_stdin", what: "answers and closes its stdin", ends: "success" },
  { name: "answer_after_exit", what: "answers through a grandchild after its exit", ends: "outcome_unknown" },
  { name: "forks_grandchild", what: "leaves a grandchild with its pipes", ends: "success" },
  { name: "forks_daemon", what: "leaves a grandchild in a session of its own", ends: "success" },
  { name: "floods_events", what: "sends 60,000 parts of 1 kB", ends: "success", diagnostics: ["parts_dropped"] },
  { name: "floods_stderr", what: "writes to stderr without end", ends: "success" },
  { name: "slow_reader", what: "stops reading", ends: "tool_timeout", deadlineMs: SHORT_MS },
];

/** What starts one, for a host's `command`: the Node that runs us. */
export const badHostCommand = (name: string, extended = false): readonly string[] => {
  const file = new URL(`./programs/bad-host.${import.meta.url.endsWith(".ts") ? "ts" : "js"}`, import.meta.url);
  const program = tryFindCompiled(file) ?? fileURLToPath(file);
  return ["node", program, name, ...(extended ? ["extended"] : [])];
};
