// The value of a parameter as text, by the styles of OpenAPI. Values are data: whatever could end a segment, a pair, a header or
// a cookie is percent-encoded, and a line end in a header is refused by the egress guard.
//   WP1. A path parameter is never empty, "." or "..": the request would reach another resource. plan-request.ts looks at the whole path.
//        Of style matrix neither a name nor a value has such a part.
//   WP2. A value inside an array or an object that is itself an array or an object is written as JSON, except by deepObject.

import { isRecord, type JsonObject, type JsonValue, ToolplaneError } from "@toolplane/protocol";
import type { HttpParameter } from "./operation.ts";
import { leadsUpwards } from "./path-rules.ts";

export const isAbsent = (value: JsonValue | undefined): value is null | undefined =>
  value === undefined || value === null;

export const plainText = (value: JsonValue): string => (typeof value === "string" ? value : JSON.stringify(value));

/** encodeURIComponent leaves these, and a path or a query may read some of them as its own. */
export const encodeText = (text: string): string =>
  encodeURIComponent(text.toWellFormed()).replace(
    /[!'()*]/gu,
    (char) => `%${char.charCodeAt(0).toString(16).toUpperCase()}`,
  );

/** Reserved characters that may stay as they are. Not "&", "#" and "+", with which a value could add pairs or end the query. */
const RESERVED = /%(?:3A|2F|3F|5B|5D|40|21|24|27|28|29|2A|2C|3B|3D)/gu;

const encodeFor = ({ allowReserved }: Pick<HttpParameter, "allowReserved">, text: string): string =>
  allowReserved ? encodeText(text).replace(RESERVED, (code) => decodeURIComponent(code)) : encodeText(text);

const membersOf = (value: JsonObject): readonly (readonly [string, JsonValue])[] =>
  Object.entries(value).filter(([, member]) => !isAbsent(member));

interface Shape {
  /** Between items, or between a name and its value. */
  readonly between: string;
  readonly pair: string;
  readonly encode: (text: string) => string;
}

/** A list as `a,b`, an object as `k,v,k,v` or, exploded, as `k=v,k=v`; with other separators by style. */
const writeItems = (value: JsonValue, { between, pair, encode }: Shape): string => {
  if (Array.isArray(value)) return value.map((item: JsonValue) => encode(plainText(item))).join(between);
  if (!isRecord(value)) return encode(plainText(value));
  return membersOf(value as JsonObject)
    .map(([name, member]) => `${encode(name)}${pair}${encode(plainText(member))}`)
    .join(between);
};

const isList = (value: JsonValue): boolean => Array.isArray(value) || isRecord(value);

const refusePath = (name: string): ToolplaneError =>
  new ToolplaneError("bad_request", `the path parameter ${name} is missing, empty, "." or "..", or has such a part`);

const writeMatrix = ({ name, explode }: HttpParameter, value: JsonValue): string => {
  const start = `;${encodeText(name)}`;
  const encode = (text: string): string => {
    const written = encodeText(text);
    if (leadsUpwards(written)) throw refusePath(name);
    return written;
  };
  if (!explode || !isList(value)) return `${start}=${writeItems(value, { between: ",", pair: ",", encode })}`;
  if (Array.isArray(value)) return value.map((item: JsonValue) => `${start}=${encode(plainText(item))}`).join("");
  return `;${writeItems(value, { between: ";", pair: "=", encode })}`;
};

/** The names that a piece of a path brings: those of an object's members where matrix writes them one by one. */
export const pathNames = ({ name, style, explode, json }: HttpParameter, value: JsonValue | undefined) =>
  style === "matrix" && explode && !json && isRecord(value)
    ? membersOf(value as JsonObject).map(([member]) => member)
    : [name];

/** One piece of a path. */
export const writePath = (parameter: HttpParameter, value: JsonValue | undefined): string => {
  const { name, style, explode, json } = parameter;
  if (isAbsent(value)) throw refusePath(name);
  if (json) return encodeText(JSON.stringify(value));
  if (style === "matrix") return writeMatrix(parameter, value);
  const pair = explode ? "=" : ",";
  const dot = style === "label";
  const written = writeItems(value, { between: dot && explode ? "." : ",", pair, encode: encodeText });
  if (written === "" || (!dot && (written === "." || written === ".."))) throw refusePath(name);
  return dot ? `.${written}` : written;
};

/** A name, and a value that is encoded. */
export type Pair = readonly [name: string, written: string];

const writeDeep = (name: string, value: JsonValue, encode: (text: string) => string): readonly Pair[] => {
  if (Array.isArray(value)) return value.flatMap((item: JsonValue) => writeDeep(name, item, encode));
  if (!isRecord(value)) return isAbsent(value) ? [] : [[name, encode(plainText(value))]];
  return membersOf(value as JsonObject).flatMap(([key, member]) => writeDeep(`${name}[${key}]`, member, encode));
};

const SEPARATORS = { spaceDelimited: "%20", pipeDelimited: "%7C" } as const;

/** Pairs of a query or of a form. */
export const pairsOf = (parameter: HttpParameter, value: JsonValue | undefined): readonly Pair[] => {
  const { name, style, explode, json } = parameter;
  if (isAbsent(value)) return [];
  const encode = (text: string): string => encodeFor(parameter, text);
  if (json) return [[name, encode(JSON.stringify(value))]];
  if (style === "deepObject") return writeDeep(name, value, encode);
  if (!isList(value)) return [[name, encode(plainText(value))]];
  if (!explode) {
    const between = style === "spaceDelimited" || style === "pipeDelimited" ? SEPARATORS[style] : ",";
    return [[name, writeItems(value, { between, pair: between, encode })]];
  }
  if (Array.isArray(value)) return value.map((item: JsonValue) => [name, encode(plainText(item))] as const);
  return membersOf(value as JsonObject).map(([member, item]) => [member, encode(plainText(item))] as const);
};

/** Each as `name=value`. */
export const writePairs = (pairs: readonly Pair[]): readonly string[] =>
  pairs.map(([name, written]) => `${encodeText(name)}=${written}`);

export const writeHeader = ({ explode, json }: HttpParameter, value: JsonValue): string =>
  json ? JSON.stringify(value) : writeItems(value, { between: ",", pair: explode ? "=" : ",", encode: (text) => text });

export const writeCookie = ({ json }: HttpParameter, value: JsonValue): string =>
  json ? encodeText(JSON.stringify(value)) : writeItems(value, { between: ",", pair: ",", encode: encodeText });
