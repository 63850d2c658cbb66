// A request body as text and as JSON; its bytes are bounded where they are read (body-bytes.ts).
// A large body takes tens of milliseconds to parse even when it is honest. So large bodies are parsed one after the other and in
// steps, and other work of the server runs between the steps.

import { setImmediate as breathe } from "node:timers/promises";
import {
  isToolplaneError,
  type JsonReading,
  mayBeUnstorable,
  parseJsonStrict,
  readJson,
  refuseUnstorable,
  ToolplaneError,
} from "@toolplane/protocol";
import { keepAll, refuseChangedIntegers } from "@toolplane/protocol/agents";
import { readBytes } from "./body-bytes.ts";
import { type BodyParts, named, parseBodyParts, readBodyParts } from "./body-parts.ts";

/** One decoder for all: it keeps nothing between whole texts, and making one costs as much as decoding a small text. */
const UTF8 = new TextDecoder("utf-8", { fatal: true });

const decode = (bytes: ArrayBuffer | Uint8Array): string => {
  try {
    return UTF8.decode(bytes);
  } catch {
    throw new ToolplaneError("bad_request", "the body is not UTF-8 text");
  }
};

export const readBody = async (request: Request, maxBytes: number): Promise<string> =>
  decode(await readBytes(request, maxBytes));

/** A few milliseconds to read. */
const LARGE_TEXT = 128 * 1024;

export interface BodyReading {
  /** Text that cannot be stored is let through: the route checks the body item by item. */
  readonly anyText?: boolean | undefined;
  /** Nothing of the body is dropped: see JsonReading. */
  readonly isExact?: boolean | undefined;
  /** A further look before anything is dropped: see JsonReading. */
  readonly settle?: JsonReading["settle"];
  /** Parts that stand for themselves; a part that cannot be kept is an `UnreadableJson`. */
  readonly parts?: BodyParts | undefined;
  /** Integers that would be read as others are refused: they may be ids. */
  readonly keepsIntegers?: boolean | undefined;
}

/** No byte cap here: the bytes were counted when the body was read. */
const capsOf = ({ isExact, settle, keepsIntegers }: BodyReading): JsonReading => ({
  maxBytes: Number.POSITIVE_INFINITY,
  namesOnce: true,
  settle: isExact === true ? keepAll : settle,
  refuse: keepsIntegers === true ? refuseChangedIntegers : undefined,
});

const ofTheBody = (error: unknown): unknown => (isToolplaneError(error) ? named(error, "the body") : error);

const storable = (value: unknown, text: string, { anyText = false }: BodyReading): unknown => {
  if (!anyText && mayBeUnstorable(text)) refuseUnstorable(value, "the body");
  return value;
};

const parseNow = (text: string, reading: BodyReading): unknown => {
  const { parts } = reading;
  try {
    const value = parts === undefined ? parseJsonStrict(text, capsOf(reading)) : parseBodyParts(text, parts);
    return storable(value, text, reading);
  } catch (error) {
    throw ofTheBody(error);
  }
};

let before: Promise<unknown> = Promise.resolve();

/** Other work runs between two steps, and before the value is used. */
const inSteps = async <Value>(steps: Generator<undefined, Value, undefined>): Promise<Value> => {
  let step = steps.next();
  while (step.done !== true) {
    await breathe();
    step = steps.next();
  }
  return step.value;
};

const parseInTurn = (text: string, reading: BodyReading): Promise<unknown> => {
  const { parts } = reading;
  const mine = before
    .then(() => breathe())
    .then(() => inSteps<unknown>(parts === undefined ? readJson(text, capsOf(reading)) : readBodyParts(text, parts)))
    .then((value) => storable(value, text, reading))
    .catch((error: unknown) => {
      throw ofTheBody(error);
    });
  before = mine.catch(() => undefined);
  return mine;
};

/** The JSON of a body; errors name the body. */
export const parseBody = (text: string, reading: BodyReading = {}): unknown => {
  if (text.length > LARGE_TEXT) return parseInTurn(text, reading);
  if (text.trim() === "") throw new ToolplaneError("bad_request", "the body is empty: send JSON");
  return parseNow(text, reading);
};
