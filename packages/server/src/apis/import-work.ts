// Reading and importing an OpenAPI document in a thread: it may have megabytes, and it may have been written to do harm.
//   IW1. Files are read only below the directory of the document, links resolved; their number and their size are bounded.
//   IW2. A fetched document is one text; it cannot name files.

import { readFileSync, realpathSync, statSync } from "node:fs";
import { dirname, relative, resolve, sep } from "node:path";
import { type ImportOptions, type ImportOutcome, importDocument } from "@toolplane/bridges/openapi";
import { sha256 } from "@toolplane/bus/ports";
import { type AllowedOrigin, createPolicy, planTarget } from "@toolplane/egress/policy";
import { isLinearPattern } from "@toolplane/engine/patterns";
import { badRequest, type JsonValue, ToolplaneError, understandError } from "@toolplane/protocol";
import { parseYamlFile } from "../config/yaml-file.ts";

export interface ImportWork {
  readonly options: ImportOptions;
  /** The operator's list of addresses. */
  readonly allow: readonly AllowedOrigin[];
  readonly document: { readonly file: string } | { readonly text: string };
}

/** GitHub's document has 13 MB. */
const MAX_BYTES = 64 * 1024 * 1024;
const MAX_FILES = 200;
const LIMITS = { maxBytes: MAX_BYTES, maxAliases: 1_000 };

const parse = (text: string, name: string): JsonValue => {
  const bare = text.startsWith("\uFEFF") ? text.slice(1) : text;
  if (!/^\s*[{[]/u.test(bare)) return parseYamlFile(bare, name, LIMITS).value as JsonValue;
  try {
    return JSON.parse(bare) as JsonValue;
  } catch {
    // YAML may begin with a brace too, and its reader names the line.
    return parseYamlFile(bare, name, LIMITS).value as JsonValue;
  }
};

interface Files {
  readonly root: { readonly file: string; readonly value: JsonValue };
  readonly load: (path: string, from: string) => { readonly file: string; readonly value: JsonValue };
}

const openFiles = (path: string): Files => {
  const base = dirname(realpathSync(path));
  const known = new Map<string, JsonValue>();
  let bytes = 0;
  const read = (file: string, shown: string): { readonly file: string; readonly value: JsonValue } => {
    const before = known.get(file);
    if (before !== undefined) return { file, value: before };
    if (known.size >= MAX_FILES) throw badRequest(`it consists of more than ${MAX_FILES} files`);
    const whole = resolve(base, file);
    const found = statSync(whole);
    // A pipe or a device would be read without end.
    if (!found.isFile()) throw badRequest(`the file ${shown} cannot be read: it is not a plain file`);
    bytes += found.size;
    if (bytes > MAX_BYTES) throw badRequest(`it is larger than ${MAX_BYTES} bytes`);
    const value = parse(readFileSync(whole, "utf8"), shown);
    known.set(file, value);
    return { file, value };
  };
  const place = (wanted: string, shown: string): string => {
    let real: string;
    try {
      real = realpathSync(wanted);
    } catch {
      throw badRequest(`the file ${shown} is not there`);
    }
    const inside = relative(base, real);
    if (inside === "" || inside.startsWith("..") || resolve(base, inside) !== real)
      throw badRequest(`the file ${shown} is outside of the directory of the document`);
    return inside.split(sep).join("/");
  };
  const first = place(path, relative(base, path));
  return {
    root: read(first, first),
    load: (wanted, from) => {
      const shown = JSON.stringify(wanted.slice(0, 120).toWellFormed());
      return read(place(resolve(base, dirname(from), wanted), shown), shown);
    },
  };
};

const openText = (text: string): Files => ({
  root: { file: "document", value: parse(text, "the document") },
  load: () => {
    throw badRequest("a document from an address cannot refer to files");
  },
});

const open = (document: ImportWork["document"]): Files => {
  if ("text" in document) return openText(document.text);
  try {
    return openFiles(document.file);
  } catch (error) {
    if (!(error instanceof ToolplaneError))
      throw badRequest(`the file ${document.file} is not there or cannot be read`);
    throw error;
  }
};

const whyRefusedWith =
  (allow: readonly AllowedOrigin[]) =>
  (address: string, hosts: readonly string[]): string | undefined => {
    try {
      planTarget(address, createPolicy({ hosts, allow }));
      return undefined;
    } catch (error) {
      return understandError(error, { keepMessage: true }).message;
    }
  };

export const run = ({ options, allow, document }: ImportWork): ImportOutcome => {
  const { root, load } = open(document);
  return importDocument(root.file, root.value, options, {
    load,
    sha256,
    isLinear: isLinearPattern,
    whyRefused: whyRefusedWith(allow),
  });
};
