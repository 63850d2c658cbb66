// `$anchor` of a schema (OpenAPI 3.1): another name for its place, which a reference may use (`#pet` in place of
// `#/components/schemas/Pet`). A file is walked once, and only when a reference of it names an anchor.

import { isRecord, type JsonObject, type JsonValue } from "@toolplane/protocol";

/** Anchor -> pointer to its schema; null: two schemas of the file have it. */
export type Anchors = ReadonlyMap<string, string | null>;

/** Their members are values, not schemas; as names of a property or of a component they are names. */
const VALUES: ReadonlySet<string> = new Set(["example", "examples", "default", "enum", "const"]);
const MAPS: ReadonlySet<string> = new Set(["properties", "patternProperties", "$defs", "schemas", "dependentSchemas"]);

interface Place {
  readonly value: JsonValue;
  /** The member that holds it. */
  readonly name: string;
  readonly pointer: string;
}

const pointerPart = (name: string): string => encodeURIComponent(name.replaceAll("~", "~0").replaceAll("/", "~1"));

const membersOf = ({ value, name, pointer }: Place): readonly Place[] => {
  if (typeof value !== "object" || value === null) return [];
  const isMap = MAPS.has(name);
  return Object.entries(value as JsonObject)
    .filter(([member]) => isMap || !VALUES.has(member))
    .map(([member, inside]) => ({ value: inside, name: member, pointer: `${pointer}/${pointerPart(member)}` }));
};

/** With a list of what is left to do in place of recursion: a document may be deep. */
export const findAnchors = (file: JsonValue): Anchors => {
  const anchors = new Map<string, string | null>();
  const open: Place[] = [{ value: file, name: "", pointer: "" }];
  for (let next = open.pop(); next !== undefined; next = open.pop()) {
    const anchor = MAPS.has(next.name) || !isRecord(next.value) ? undefined : (next.value as JsonObject).$anchor;
    if (typeof anchor === "string") anchors.set(anchor, anchors.has(anchor) ? null : next.pointer);
    for (const member of membersOf(next)) open.push(member);
  }
  return anchors;
};
