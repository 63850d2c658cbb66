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
  // transcripts
  { id: "UTP-10.2-5", source: "utp 10.2", part: "agents", text: "Context is the output box first, then cards of the context box that are not in it." },
  { id: "UTP-10.2-7", source: "utp 10.2", part: "agents", text: "Unknown placeholders and literal braces in a system prompt are kept as they are." },
  { id: "ARCH-9-T1", source: "utp 10.2", part: "agents", text: "The context keeps the place it had when the turn began: a transcript only grows at its end." },
  { id: "ARCH-9-T2", source: "security 15", part: "agents", text: "A program that reads a transcript gets back what is inside a fence." },
  { id: "ARCH-9-T3", source: "utp 10.2", part: "agents", text: "Required result fields are said in the prompt, reminders and alerts at the end of the messages." },
  { id: "ARCH-9-T4", source: "utp 4.7, 15 W-14", part: "agents", text: "Every call of an assistant message has exactly one answer, right after it, in the order of the calls." },
  { id: "ARCH-9-T5", source: "utp 4.7, 15 W-14", part: "agents", text: "A call without a recorded result gets a note; a result without a call is a message of its own." },
  { id: "ARCH-9-T6", source: "utp 15 W-03", part: "agents", text: "Ids in a transcript are the provider's, made distinct where it repeats them." },
  { id: "ARCH-9-T7", source: "architecture 9", part: "agents", text: "A transcript over its budget gets shorter texts, oldest results first, and keeps every message." },
  { id: "ARCH-9-T8", source: "architecture 9", part: "agents", text: "The same cards give the same messages." },
  { id: "SEC-15-1", source: "security 15", part: "agents", text: "Results shown to a model carry where they come from, are cut to a preview with a pointer, and are fenced with a nonce." },
  { id: "SEC-15-T1", source: "security 15", part: "agents", text: "Nothing inside a fence can end it, and nobody who writes a text can know its mark." },
  { id: "SEC-15-T2", source: "security 15", part: "agents", text: "Frame tokens of model servers and invisible tag characters have no power inside a fence." },
  { id: "SEC-15-T3", source: "security 15", part: "agents", text: "read_card reads a long result in bounded pieces, every character once, never half a character." },
  { id: "SEC-15-T4", source: "security 14, 15", part: "agents", text: "read_card reads only cards of the conversation; anything else does not exist." },
  { id: "SEC-15-T5", source: "security 15", part: "agents", text: "What nobody vouched for is from outside; so is what other agents say; failures this system wrote are its own words." },
  { id: "SEC-15-T6", source: "security 15", part: "agents", text: "What read_card returns keeps the trust of the card it was read from." },
] as const satisfies readonly Rule[];
