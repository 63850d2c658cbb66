// A script as YAML: plain data (no tags, few aliases, bounded), every complaint with its line.

import { ToolplaneError } from "@toolplane/protocol";
import { type Document, isMap, isNode, LineCounter, parseDocument, visit } from "yaml";
import { parseScript, type Script } from "./script.ts";

/** Far beyond any script people write. */
const MAX_CHARS = 256 * 1024;
const MAX_ALIASES = 50;

const offsetOf = (document: Document, path: readonly PropertyKey[], key?: string): number => {
  const node: unknown = path.length === 0 ? document.contents : document.getIn(path, true);
  if (key !== undefined && isMap(node)) {
    const pair = node.items.find((item) => String(item.key) === key);
    if (isNode(pair?.key)) return pair.key.range?.[0] ?? 0;
  }
  if (isNode(node) && node.range) return node.range[0];
  return path.length === 0 ? 0 : offsetOf(document, path.slice(0, -1), String(path.at(-1)));
};

/** Undefined when it is nested so deep that reading it fails. */
const readDocument = (text: string, lineCounter: LineCounter): Document | undefined => {
  const options = { version: "1.2", schema: "core", uniqueKeys: true, prettyErrors: false, lineCounter } as const;
  try {
    return parseDocument(text, options);
  } catch {
    return undefined;
  }
};

/** `name` is the script's, when it does not give one itself, and the file's in complaints. */
export const parseScriptYaml = (text: string, name: string): Script => {
  const refuse = (place: string, message: string): never => {
    throw new ToolplaneError("bad_request", `${place}: ${message}`, { detail: { script: name } });
  };
  if (text.length > MAX_CHARS) refuse(name, `a script has at most ${MAX_CHARS} characters`);
  const lines = new LineCounter();
  const document = readDocument(text, lines) ?? refuse(name, "it is nested too deep");
  const place = (offset: number): string => `${name}:${lines.linePos(offset).line}`;
  const [fault] = [...document.errors, ...document.warnings];
  if (fault !== undefined) refuse(place(fault.pos[0]), fault.message);
  visit(document, (_key, node) => {
    if (isNode(node) && "tag" in node && node.tag !== undefined)
      refuse(place(node.range?.[0] ?? 0), "tags are not allowed");
  });
  let value: unknown;
  try {
    value = document.toJS({ maxAliasCount: MAX_ALIASES });
  } catch {
    refuse(name, "its aliases expand to too much");
  }
  return parseScript(value, name, (path, key) => place(offsetOf(document, path, key)));
};
