// YAML that people write, read as data: no tags, few aliases, a bounded size, one document, keys unique. Every complaint
// names the file and the line.

import type { ToolplaneError } from "@toolplane/protocol";
import {
  type Document,
  isAlias,
  isMap,
  isNode,
  isPair,
  isScalar,
  LineCounter,
  parseDocument,
  visit,
  type YAMLMap,
} from "yaml";
import { refuseConfig } from "./refuse.ts";

/** The largest tool definitions stay under 100 kB; a configuration is far smaller. */
export const MAX_YAML_BYTES = 256 * 1024;
/** People share a few blocks; thousands of references are an attack on our memory. */
const MAX_ALIASES = 50;

export interface YamlFile {
  readonly value: unknown;
  /** `name:line`, of the value at the path or, with `key`, of that key in the map there. */
  where(path: readonly PropertyKey[], key?: string): string;
}

const refuse = (name: string, line: number | undefined, message: string): ToolplaneError =>
  refuseConfig(`${name}${line === undefined ? "" : `:${line}`}: ${message}`);

const offsetOf = (document: Document, path: readonly PropertyKey[], key: string | undefined): number | undefined => {
  const node: unknown = path.length === 0 ? document.contents : document.getIn(path, true);
  if (key !== undefined && isMap(node)) {
    const pair = node.items.find((item) => String(item.key) === key);
    if (isNode(pair?.key)) return pair.key.range?.[0];
  }
  if (isNode(node) && node.range) return node.range[0];
  // A missing value has no place of its own, so the place of its parent is used.
  return path.length === 0 ? undefined : offsetOf(document, path.slice(0, -1), String(path.at(-1)));
};

/** The library compares every key with all keys before it: 50,000 of them took it a minute. */
const checkKeys = ({ items }: YAMLMap, complain: (offset: number, message: string) => never): void => {
  const seen = new Set<unknown>();
  for (const { key } of items) {
    if (!isScalar(key)) continue;
    if (seen.has(key.value)) complain(key.range?.[0] ?? 0, "Map keys must be unique");
    seen.add(key.value);
  }
};

const checkNodes = (
  document: Document,
  maxAliases: number,
  complain: (offset: number, message: string) => never,
): void => {
  let aliases = 0;
  visit(document, (_key, node) => {
    if (isPair(node) && isNode(node.key) && !isScalar(node.key)) complain(node.key.range?.[0] ?? 0, "a key is a text");
    if (isMap(node)) checkKeys(node, complain);
    if (!isNode(node)) return;
    const offset = node.range?.[0] ?? 0;
    if (isAlias(node)) {
      aliases++;
      if (aliases > maxAliases) complain(offset, `more than ${maxAliases} aliases`);
    } else if (node.tag !== undefined) complain(offset, `tags such as ${node.tag} are not allowed`);
  });
};

export interface YamlLimits {
  readonly maxBytes: number;
  readonly maxAliases: number;
}

const OWN_LIMITS: YamlLimits = { maxBytes: MAX_YAML_BYTES, maxAliases: MAX_ALIASES };

/** `name` is what the complaints call it. */
export const parseYamlFile = (text: string, name: string, limits: YamlLimits = OWN_LIMITS): YamlFile => {
  const { maxBytes, maxAliases } = limits;
  if (Buffer.byteLength(text) > maxBytes) throw refuse(name, undefined, `larger than ${maxBytes} bytes`);
  const lines = new LineCounter();
  const document: Document = parseDocument(text, {
    version: "1.2",
    schema: "core",
    // Looked at below.
    uniqueKeys: false,
    prettyErrors: false,
    lineCounter: lines,
  });
  const lineOf = (offset: number): number => lines.linePos(offset).line;
  const complain = (offset: number, message: string): never => {
    throw refuse(name, lineOf(offset), message);
  };
  const [fault] = [...document.errors, ...document.warnings];
  if (fault !== undefined) complain(fault.pos[0], fault.message);
  checkNodes(document, maxAliases, complain);
  let value: unknown;
  try {
    value = document.toJS({ maxAliasCount: maxAliases });
  } catch {
    throw refuse(name, undefined, "its aliases expand to too much");
  }
  return {
    value,
    where: (path, key) => {
      const offset = offsetOf(document, path, key);
      return offset === undefined ? name : `${name}:${lineOf(offset)}`;
    },
  };
};
