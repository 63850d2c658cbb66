// `$ref` of a document: inside it, or into another file that the loader gives.
//   RF1. A chain of references is followed for a bounded number of steps; a chain that leads back to itself is refused.
//   RF2. Only the loader decides which files there are; a reference to a web address is refused.
//   RF3. Members are own members: `#/__proto__` leads nowhere.

import { badRequest, isRecord, type JsonObject, type JsonValue } from "@toolplane/protocol";
import { type Anchors, findAnchors } from "./anchors.ts";

/** Another file of the document, parsed. `path` is as the reference says, relative to the file it stands in. */
export type LoadFile = (path: string, from: string) => { readonly file: string; readonly value: JsonValue };

/** A value and the file it stands in: references in it are relative to that file. */
export interface Located<Value extends JsonValue | undefined = JsonValue> {
  readonly value: Value;
  readonly file: string;
}

export interface References {
  readonly root: Located<JsonObject>;
  /** The value that a reference names, which may itself be a reference, and one name for the place. */
  find(reference: string, from: string): Located & { readonly key: string };
  /** The value behind any number of references. */
  follow(located: Located<JsonValue | undefined>): Located<JsonValue | undefined>;
}

const MAX_STEPS = 32;
const MAX_SHOWN = 120;

export const shown = (text: string): string => JSON.stringify(text.slice(0, MAX_SHOWN).toWellFormed());

const decode = (part: string): string => {
  try {
    return decodeURIComponent(part).replaceAll("~1", "/").replaceAll("~0", "~");
  } catch {
    return part;
  }
};

export const ownMember = (value: JsonValue | undefined, name: string): JsonValue | undefined =>
  isRecord(value) && Object.hasOwn(value, name) ? (value as JsonObject)[name] : undefined;

export const referenceIn = (value: JsonValue | undefined): string | undefined => {
  const reference = Array.isArray(value) ? undefined : ownMember(value, "$ref");
  return typeof reference === "string" ? reference : undefined;
};

const at = (value: JsonValue, pointer: string, reference: string): JsonValue => {
  let found: JsonValue | undefined = value;
  for (const part of pointer.split("/").slice(1)) {
    const name = decode(part);
    found =
      Array.isArray(found) && /^\d{1,9}$/u.test(name) ? (found as JsonValue[])[Number(name)] : ownMember(found, name);
  }
  if (found === undefined) throw badRequest(`the reference ${shown(reference)} leads nowhere`);
  return found;
};

const isAnchor = (fragment: string): boolean => fragment !== "" && !fragment.startsWith("/");

/** Two spellings of one place have one key. */
const keyOf = (file: string, pointer: string): string => {
  const parts = pointer.split("/").map((part) => decode(part).replaceAll("~", "~0").replaceAll("/", "~1"));
  return `${file}#${parts.join("/")}`;
};

export const createReferences = (root: Located<JsonObject>, load: LoadFile): References => {
  const files = new Map<string, JsonValue>([[root.file, root.value]]);

  const anchors = new Map<string, Anchors>();
  const anchored = (file: string, name: string, reference: string): string => {
    const known = anchors.get(file) ?? findAnchors(files.get(file) ?? null);
    anchors.set(file, known);
    const pointer = known.get(decode(name));
    if (typeof pointer === "string") return pointer;
    throw badRequest(
      `the reference ${shown(reference)} names an anchor ${pointer === null ? "that two schemas have" : "that no schema has"}`,
    );
  };

  const find: References["find"] = (reference, from) => {
    const [path = "", pointer = ""] = reference.split("#", 2);
    if (/^[a-z][a-z0-9+.-]*:|^\/\//iu.test(path))
      throw badRequest(`the reference ${shown(reference)} leads to another address, which is not followed`);
    let file = from;
    if (path !== "") {
      const loaded = load(decode(path), from);
      ({ file } = loaded);
      files.set(file, loaded.value);
    }
    const place = isAnchor(pointer) ? anchored(file, pointer, reference) : pointer;
    return { value: at(files.get(file) ?? null, place, reference), file, key: keyOf(file, place) };
  };

  return {
    root,
    find,
    follow(located) {
      let { value, file } = located;
      for (let steps = 0; steps < MAX_STEPS; steps += 1) {
        const reference = referenceIn(value);
        if (reference === undefined) return { value, file };
        ({ value, file } = find(reference, file));
      }
      throw badRequest("a chain of references leads back to itself or is too long");
    },
  };
};
