// A body whose parts stand for themselves: the calls of a batch, the items of an exchange, the result of a call beside its lease.
//   BP1. A part that cannot be kept (too deep, a name twice, a number out of range, too much of it) concerns no other part. Each part has
//        the limits of a single request; the body as a whole has its bytes.
//   BP2. A report whose call and lease can be read is passed on, with an `UnreadableJson` in place of its result: the call settles as
//        failed, because its tool has run (I1).
//   BP3. A body that is no JSON is refused as a whole: where its parts begin and end is not known then.
//   BP4. A body with more parts than any request may have is not cut up: it is weighed and refused as a whole, which costs little.

import {
  exceedsBytes,
  isToolplaneError,
  type JsonReading,
  parseJsonStrict,
  readJson,
  ToolplaneError,
} from "@toolplane/protocol";
import { refuseChangedIntegers, sliceList, sliceObject, UnreadableJson } from "@toolplane/protocol/agents";

export type BodyParts =
  /** A list of requests, each of at most so many bytes. */
  | { readonly are: "requests"; readonly maxBytes: number }
  /** Lists of items under these names, and other members. */
  | { readonly are: "items"; readonly lists: readonly string[]; readonly results: string }
  /** One report. */
  | { readonly are: "report" };

/** So many calls a batch has at most: more would hold up the requests of others while they are read. An exchange has fewer items. */
export const MOST_PARTS = 512;
/** A report or an exchange has some ten. */
const MOST_MEMBERS = 64;

/** Read in one go: a few milliseconds. */
const AT_ONCE = 128 * 1024;

const CAPS: JsonReading = { maxBytes: Number.POSITIVE_INFINITY, namesOnce: true, refuse: refuseChangedIntegers };

type Steps<Read> = Generator<undefined, Read, undefined>;

/** The error of a reader of JSON, about what has this name. */
export const named = (error: ToolplaneError, name: string): ToolplaneError =>
  new ToolplaneError(error.code, error.message.replace(/^the (text|JSON) /, `${name} `), { detail: error.detail });

const isJson = (text: string): boolean => {
  try {
    JSON.parse(text);
    return true;
  } catch {
    return false;
  }
};

/** The value, or in its place why it cannot be kept; throws when it is no JSON at all (BP3). */
function* readPart(text: string, name: string): Steps<unknown> {
  try {
    return text.length > AT_ONCE ? yield* readJson(text, CAPS) : parseJsonStrict(text, CAPS);
  } catch (error) {
    if (!isToolplaneError(error) || (error.code === "bad_request" && !isJson(text))) throw error;
    return new UnreadableJson(named(error, name));
  }
}

const sound = (value: unknown): unknown => {
  if (value instanceof UnreadableJson) throw value.error;
  return value;
};

/** Undefined when the text is no object, or has too many members; a member that may not be left out is read by `read`. */
function* readMembers(
  text: string,
  read: (name: string, value: string) => Steps<unknown>,
): Steps<Record<string, unknown> | undefined> {
  const members = sliceObject(text, MOST_MEMBERS);
  if (members === undefined) return undefined;
  const found = new Map<string, unknown>();
  for (const { name, value } of members) {
    const key = parseJsonStrict(name) as string;
    if (found.has(key))
      throw new ToolplaneError("bad_request", "the body names a member of an object twice: send it once");
    found.set(key, yield* read(key, value));
  }
  found.delete("__proto__");
  return Object.fromEntries(found);
}

/** Left out when it cannot be kept: it never stands in the way of a result. */
const BESIDE_A_RESULT: ReadonlySet<string> = new Set(["views", "diagnostics"]);

/** BP2. */
function* readReport(text: string): Steps<unknown> {
  let result: UnreadableJson | undefined;
  const report = yield* readMembers(text, function* (name, value) {
    const read = yield* readPart(value, name === "session_state" ? "the state of the session" : `the ${name}`);
    if (!(read instanceof UnreadableJson)) return read;
    if (BESIDE_A_RESULT.has(name)) return undefined;
    if (name === "error") return { message: "the error cannot be kept", detail: read };
    if (name !== "result" && name !== "session_state") throw read.error;
    result = read;
    return undefined;
  });
  if (report === undefined) return sound(yield* readPart(text, "the body"));
  return result === undefined ? report : { ...report, result };
}

/** An item that cannot be read as a report is refused alone too. */
function* readResultItem(text: string): Steps<unknown> {
  const whole = yield* readPart(text, "the item");
  if (!(whole instanceof UnreadableJson)) return whole;
  try {
    return yield* readReport(text);
  } catch (error) {
    if (!isToolplaneError(error)) throw error;
    return new UnreadableJson(named(error, "the item"));
  }
}

/** Undefined when the text is no list, or too long a one. */
function* readList(text: string, read: (item: string) => Steps<unknown>): Steps<readonly unknown[] | undefined> {
  const items = sliceList(text, MOST_PARTS);
  if (items === undefined) return undefined;
  const found: unknown[] = [];
  let characters = 0;
  for (const item of items) {
    found.push(yield* read(item));
    characters += item.length;
    if (characters < AT_ONCE) continue;
    characters = 0;
    yield;
  }
  return found;
}

const tooLarge = (maxBytes: number): UnreadableJson =>
  new UnreadableJson(
    new ToolplaneError("payload_too_large", `the call is larger than ${maxBytes} bytes`, {
      detail: { max_bytes: maxBytes },
    }),
  );

function* readApart(text: string, parts: BodyParts): Steps<unknown> {
  switch (parts.are) {
    case "requests":
      return (
        (yield* readList(text, function* (item) {
          return exceedsBytes(item, parts.maxBytes) ? tooLarge(parts.maxBytes) : yield* readPart(item, "the call");
        })) ?? sound(yield* readPart(text, "the body"))
      );
    case "items":
      return (
        (yield* readMembers(text, function* (name, value) {
          const read = name === parts.results ? readResultItem : (item: string) => readPart(item, "the item");
          const items = parts.lists.includes(name) ? yield* readList(value, read) : undefined;
          return items ?? sound(yield* readPart(value, "the body"));
        })) ?? sound(yield* readPart(text, "the body"))
      );
    case "report":
      return yield* readReport(text);
  }
}

/** Reads the body as a whole, which costs least. Reads it part by part when that fails, or when it is a long list of requests. */
export function* readBodyParts(text: string, parts: BodyParts): Steps<unknown> {
  if (parts.are === "requests" && text.length > AT_ONCE) return yield* readApart(text, parts);
  try {
    return text.length > AT_ONCE ? yield* readJson(text, CAPS) : parseJsonStrict(text, CAPS);
  } catch (error) {
    if (!isToolplaneError(error)) throw error;
    return yield* readApart(text, parts);
  }
}

/** For a door that reads without turns. */
export const parseBodyParts = (text: string, parts: BodyParts): unknown => {
  const reading = readBodyParts(text, parts);
  let step = reading.next();
  while (step.done !== true) step = reading.next();
  return step.value;
};
