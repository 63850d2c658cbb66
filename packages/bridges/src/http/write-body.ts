// The body of a request: JSON, a form, a multipart form, plain text or bytes.
//   WB1. A name or a file name of a multipart form cannot end its line or its quotes.
//   WB2. A boundary is random and never chosen by a caller.

import { badRequest, isRecord, type JsonObject, type JsonValue } from "@toolplane/protocol";
import { checkNames } from "./name-clashes.ts";
import type { HttpBody, HttpParameter, PropertyEncoding } from "./operation.ts";
import { isAbsent, pairsOf, plainText, writePairs } from "./write-parameter.ts";

export interface WrittenBody {
  readonly contentType: string;
  readonly body: string | Uint8Array;
}

export const isJsonType = (contentType: string): boolean => /^application\/(?:[\w.+-]+\+)?json\b/iu.test(contentType);

const propertiesOf = (value: JsonValue, { argument }: HttpBody): readonly (readonly [string, JsonValue])[] => {
  if (isRecord(value)) return Object.entries(value as JsonObject).filter(([, member]) => !isAbsent(member));
  throw badRequest(`the argument ${argument} becomes a form and must be an object`);
};

/** A property of a form without an encoding: lists are repeated, objects are JSON. */
const asParameter = (name: string, encoding: PropertyEncoding | undefined, value: JsonValue): HttpParameter => ({
  name,
  in: "query",
  argument: name,
  style: encoding?.style ?? "form",
  explode: encoding?.explode ?? (encoding?.style ?? "form") === "form",
  allowReserved: false,
  json: encoding?.style === undefined && isRecord(value) && !Array.isArray(value),
});

const writeForm = (value: JsonValue, body: HttpBody): string => {
  const written = propertiesOf(value, body).map(([name, member]) => ({
    name,
    pairs: pairsOf(asParameter(name, body.encoding[name], member), member),
  }));
  checkNames(
    written.map(({ name, pairs }) => ({
      argument: `${body.argument}.${name}`,
      name,
      written: pairs.map(([key]) => key),
      isManaged: false,
      isUndeclared: false,
    })),
  );
  return written.flatMap(({ pairs }) => writePairs(pairs)).join("&");
};

/** A text under one of these types is base64. */
const BYTES = /^(?:application\/(?:octet-stream|pdf|zip|gzip|x-tar)|image\/|audio\/|video\/|font\/)/u;
const BASE64 = /^[A-Za-z0-9+/]*={0,2}$/u;

const bytesOf = (base64: JsonValue | undefined, what: string): Uint8Array => {
  if (typeof base64 !== "string" || !BASE64.test(base64) || base64.length % 4 !== 0)
    throw badRequest(`${what} is a file: give its bytes as base64`);
  return Buffer.from(base64, "base64");
};

/** As browsers write it: quotes and line ends are percent-encoded. */
const quoted = (text: string): string =>
  text
    .replace(/["\r\n]/gu, (char) => `%${char.charCodeAt(0).toString(16).toUpperCase().padStart(2, "0")}`)
    .replaceAll("\0", "");

const MEDIA_TYPE = /^[\w.+-]+\/[\w.+*-]+(?:; ?[\w-]+=[\w.-]+)*$/u;

const partType = (type: JsonValue | undefined, otherwise: string): string =>
  typeof type === "string" && MEDIA_TYPE.test(type) ? type : otherwise;

interface Part {
  readonly head: string;
  readonly content: Uint8Array;
}

const writePart = (name: string, value: JsonValue, encoding: PropertyEncoding | undefined): Part => {
  const disposition = `content-disposition: form-data; name="${quoted(name)}"`;
  if (encoding?.file === true) {
    const file: JsonObject = isRecord(value) ? (value as JsonObject) : { base64: value };
    const filename = typeof file.filename === "string" ? file.filename : name;
    const type = partType(file.content_type, encoding.content_type ?? "application/octet-stream");
    return {
      head: `${disposition}; filename="${quoted(filename)}"\r\ncontent-type: ${type}`,
      content: bytesOf(file.base64, `the property ${name}`),
    };
  }
  const isObject = typeof value === "object";
  const type = encoding?.content_type ?? (isObject ? "application/json" : undefined);
  return {
    head: type === undefined ? disposition : `${disposition}\r\ncontent-type: ${partType(type, "text/plain")}`,
    content: Buffer.from(plainText(value)),
  };
};

const writeMultipart = (value: JsonValue, body: HttpBody, boundary: string): Uint8Array => {
  const parts = propertiesOf(value, body).flatMap(([name, member]) =>
    (Array.isArray(member) ? (member as readonly JsonValue[]) : [member]).map((item) =>
      writePart(name, item, body.encoding[name]),
    ),
  );
  const pieces = parts.flatMap(({ head, content }) => [
    Buffer.from(`--${boundary}\r\n${head}\r\n\r\n`),
    content,
    Buffer.from("\r\n"),
  ]);
  return Buffer.concat([...pieces, Buffer.from(`--${boundary}--\r\n`)]);
};

export const writeBody = (body: HttpBody, value: JsonValue | undefined, boundary: string): WrittenBody | undefined => {
  if (value === undefined) return undefined;
  const { contentType, argument } = body;
  const [kind = ""] = contentType.toLowerCase().split(";");
  if (isJsonType(kind)) return { contentType, body: JSON.stringify(value) };
  if (kind === "application/x-www-form-urlencoded") return { contentType, body: writeForm(value, body) };
  if (kind === "multipart/form-data")
    return { contentType: `${kind}; boundary=${boundary}`, body: writeMultipart(value, body, boundary) };
  if (typeof value === "string" && !BYTES.test(kind)) return { contentType, body: value };
  const bytes = isRecord(value) ? (value as JsonObject).base64 : value;
  return { contentType, body: bytesOf(bytes, `the argument ${argument}`) };
};
