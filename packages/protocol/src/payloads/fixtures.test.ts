// The corpus under fixtures/v1r4 is documentation for people who write tools in other languages; here it is held true.

import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import type { z } from "zod";
import { parseWritableCard } from "../cards/card.ts";
import { parseWith } from "../errors/parse-with.ts";
import { ToolplaneError } from "../errors/toolplane-error.ts";
import { type Payload, refuseControlFields } from "../headers/control-fields.ts";
import { parseHostLine } from "../host/host-message.ts";
import { markerSchema, parseTaskEvent, stateEventSchema, stepEventSchema } from "./agent-events.ts";
import { chunkSchema, partSchema } from "./agent-stream.ts";
import { parseCallbackPayload } from "./callback.ts";
import { parseCommandPayload } from "./command.ts";
import { parseLenient } from "./lenient-object.ts";
import { uiActionAckSchema, uiActionSchema } from "./ui-action.ts";
import { wakeupSchema } from "./wakeup.ts";

interface Corpus {
  readonly kind: string;
  readonly about: string;
  readonly valid: readonly { readonly name: string; readonly input: unknown; readonly output?: unknown }[];
  readonly invalid: readonly { readonly name: string; readonly input: unknown; readonly code: string }[];
}

/** A message that our parts send and do not read is held against the schema its sender is typed by. */
const sent =
  (schema: z.ZodType) =>
  (input: unknown): unknown =>
    parseLenient(schema, input, "message");

const readers: Readonly<Record<string, (input: unknown) => unknown>> = {
  card: (input) => parseWritableCard(input),
  command: (input) => parseCommandPayload(input),
  "internal-command": (input) => parseCommandPayload(input, { route: "internal" }),
  callback: (input) => parseCallbackPayload(input),
  wakeup: sent(wakeupSchema),
  "ui-action": (input) => {
    refuseControlFields(input as Payload, "cmd ingress");
    return sent(uiActionSchema)(input);
  },
  "ui-action-ack": sent(uiActionAckSchema),
  "task-event": parseTaskEvent,
  "step-event": sent(stepEventSchema),
  "state-event": sent(stateEventSchema),
  marker: sent(markerSchema),
  chunk: sent(chunkSchema),
  part: (input) => parseWith(partSchema, input, "part"),
  "host-line": (input) => parseHostLine(typeof input === "string" ? input : JSON.stringify(input)),
};

const root = join(import.meta.dirname, "..", "..", "fixtures", "v1r4");
const FOLDERS = ["callback", "card", "chunk", "command", "event", "host", "part", "ui-action", "wakeup"];

const files = FOLDERS.flatMap((folder) => readdirSync(join(root, folder)).map((name) => `${folder}/${name}`));
const load = (file: string): Corpus => JSON.parse(readFileSync(join(root, file), "utf8")) as Corpus;

test("every kind has a corpus with good and bad messages", () => {
  const corpora = files.map(load);
  expect(new Set(corpora.map((corpus) => corpus.kind))).toEqual(new Set(Object.keys(readers)));
  for (const corpus of corpora) expect(Math.min(corpus.valid.length, corpus.invalid.length)).toBeGreaterThan(0);
});

describe.each(files)("%s", (file) => {
  const corpus = load(file);
  const read = readers[corpus.kind] as (input: unknown) => unknown;

  test.each(corpus.valid.map((entry) => [entry.name, entry] as const))("reads: %s", (_name, { input, output }) => {
    const message = JSON.parse(JSON.stringify(read(input)));
    if (output !== undefined) expect(message).toEqual(output);
    else expect(message).toBeTypeOf("object");
  });

  test.each(corpus.invalid.map((entry) => [entry.name, entry] as const))("refuses: %s", (_name, { input, code }) => {
    let refusal: unknown;
    try {
      read(input);
    } catch (error) {
      refusal = error;
    }
    expect(refusal).toBeInstanceOf(ToolplaneError);
    expect((refusal as ToolplaneError).code).toBe(code);
  });
});
