// Brains and transcripts: what decides an agent's next step, and what it is shown.

import type { Rule } from "./rule.ts";

export const rules = [
  // scripts
  { id: "ARCH-9-S1", source: "architecture 9", part: "agents", text: "A script's step calls tools with values taken from the instruction, in their types, and shows its text in pieces." },
  { id: "ARCH-9-S2", source: "architecture 9", part: "agents", text: "The next step of a script follows from the results of the steps before it." },
  { id: "ARCH-9-S3", source: "architecture 9", part: "agents", text: "A script has no memory: the same transcript gives the same answer." },
  { id: "ARCH-9-S4", source: "architecture 9", part: "agents", text: "A script that has no step left, or misses a value, says so with its place." },
  { id: "ARCH-9-S5", source: "architecture 9", part: "agents", text: "A script may have cases chosen by the instruction." },
  { id: "ARCH-9-S6", source: "architecture 9", part: "agents", text: "A script may be written in TypeScript, with computed values." },
  { id: "ARCH-9-S7", source: "architecture 9", part: "agents", text: "A script can fail or hang on purpose, and stops when it is stopped." },
  { id: "ARCH-9-S8", source: "architecture 9", part: "agents", text: "Arguments given as text are passed on unread." },
  { id: "ARCH-9-S9", source: "architecture 9", part: "agents", text: "A bad script is refused with the line of the fault." },
  // models of the ai SDK
  { id: "ARCH-9-A1", source: "architecture 9", part: "agents", text: "A model's text, reasoning, token counts and name are read, in one piece or as a stream that is shown while it comes." },
  { id: "ARCH-9-A2", source: "architecture 9", part: "agents", text: "Parallel tool calls come out whole and in order, with the provider's ids, however their arguments were cut." },
  { id: "ARCH-9-A3", source: "utp 5.5", part: "agents", text: "Malformed arguments and unknown tools are passed on: the worker fails that one call." },
  { id: "ARCH-9-A4", source: "architecture 9", part: "agents", text: "What cannot pass is said at once, with a code and one sentence that holds nothing of the response." },
  { id: "ARCH-9-A5", source: "architecture 9", part: "agents", text: "Retry-After is respected; a wish for a longer rest than anybody waits ends the attempts." },
  { id: "ARCH-9-A6", source: "utp 10.7", part: "agents", text: "A stop interrupts the model call." },
  { id: "ARCH-9-A7", source: "architecture 9", part: "agents", text: "An endpoint that says nothing for too long is given up." },
  { id: "ARCH-9-A8", source: "architecture 9", part: "agents", text: "A broken or unreadable answer is never taken for an answer." },
  { id: "ARCH-9-A9", source: "architecture 9", part: "agents", text: "Cost is the provider's, or computed from the profile's prices, or absent." },
  { id: "ARCH-9-A10", source: "utp 5.7", part: "agents", text: "The settings of llm_config reach the provider; what it does not say is not sent." },
  { id: "SEC-7-B1", source: "security 7", part: "agents", text: "The key of a model is in the request and nowhere else: not in errors, pieces, logs or answers." },
  { id: "UTP-10.2-11", source: "utp 10.2", part: "agents", text: "A provider is asked up to three times with exponential backoff on rate limits, connection errors and timeouts." },
] as const satisfies readonly Rule[];
