// The names under which operations become tools.
//   ON1. A name comes from the operation alone, never from its place in the document: a document in another order gives the same
//        names, and a name never comes to mean another operation because something was added.
//   ON2. Where two operations would get one name, each is named after its method and path instead, and that is said. Names that
//        are too long or still the same get a hash of the method and the path.

import type { HashText } from "@toolplane/protocol";
import { isToolName } from "@toolplane/protocol/registry";
import type { ListedOperation } from "./list-operations.ts";

export interface NamedOperation extends ListedOperation {
  readonly toolName: string;
  /** As the configuration's patterns and people name it. */
  readonly shownName: string;
}

export interface NamedOperations {
  readonly named: readonly NamedOperation[];
  readonly refused: readonly { readonly operation: string; readonly reason: string }[];
  /** What a person should know, although all works. */
  readonly notes: readonly string[];
}

export interface NamingOptions {
  readonly prefix: string;
  readonly sha256: HashText;
}

const MAX_TOOL_NAME = 64;
const HASH_LENGTH = 8;
const MAX_SHOWN = 120;

const plain = (text: string): string =>
  text
    .normalize("NFC")
    .replace(/[^A-Za-z0-9_-]+/gu, "_")
    .replace(/^_+|_+$/gu, "");

/** `GET /pets/{id}`: what every operation has and no two share. */
const wholePlace = ({ method, path }: Pick<ListedOperation, "method" | "path">): string =>
  `${method.toUpperCase()} ${path}`;

/** The same, for people. */
export const placeOf = (operation: Pick<ListedOperation, "method" | "path">): string =>
  wholePlace(operation).slice(0, MAX_SHOWN).toWellFormed();

const byPlace = ({ method, path }: ListedOperation): string => plain(`${method} ${path.replaceAll(/[{}]/gu, "")}`);

const withHash = (name: string, whole: string, { sha256 }: NamingOptions): string =>
  `${name.slice(0, MAX_TOOL_NAME - HASH_LENGTH - 1)}_${sha256(whole).slice(0, HASH_LENGTH)}`;

const cutName = (name: string, whole: string, options: NamingOptions): string => {
  const given = `${options.prefix}${name}`;
  return given.length <= MAX_TOOL_NAME ? given : withHash(given, whole, options);
};

const MOST_NAMED = 10;

const listPlaces = (operations: readonly ListedOperation[]): string => {
  const named = operations.slice(0, MOST_NAMED).map(placeOf).join(", ");
  return operations.length > MOST_NAMED ? `${named} and ${operations.length - MOST_NAMED} more` : named;
};

const groupBy = <Item>(items: readonly Item[], keyOf: (item: Item) => string): ReadonlyMap<string, readonly Item[]> => {
  const groups = new Map<string, Item[]>();
  for (const item of items) {
    const group = groups.get(keyOf(item));
    if (group === undefined) groups.set(keyOf(item), [item]);
    else group.push(item);
  }
  return groups;
};

export const nameOperations = (operations: readonly ListedOperation[], options: NamingOptions): NamedOperations => {
  const notes: string[] = [];
  const own = (operation: ListedOperation): string => {
    const name = plain(operation.operationId ?? "");
    return name === "" ? "" : cutName(name, operation.operationId ?? "", options);
  };
  const place = (operation: ListedOperation): string => cutName(byPlace(operation), wholePlace(operation), options);
  const first = groupBy(operations, own);
  const candidates = [...first].flatMap(([name, group]) => {
    if (name !== "" && group.length === 1) return group.map((operation) => ({ operation, toolName: name }));
    if (name !== "") notes.push(`${listPlaces(group)} share the name ${name} and are named after their paths`);
    return group.map((operation) => ({ operation, toolName: place(operation) }));
  });
  const named: NamedOperation[] = [];
  const refused: { operation: string; reason: string }[] = [];
  const taken = new Set<string>();
  for (const [shared, group] of groupBy(candidates, (candidate) => candidate.toolName)) {
    for (const { operation } of group) {
      const toolName = group.length === 1 ? shared : withHash(shared, wholePlace(operation), options);
      const isFree = isToolName(toolName) && !taken.has(toolName);
      taken.add(toolName);
      if (isFree) named.push({ ...operation, toolName, shownName: toolName.slice(options.prefix.length) });
      else
        refused.push({
          operation: placeOf(operation),
          reason: `${JSON.stringify(toolName)} cannot be its name, or another operation has that name`,
        });
    }
  }
  return { named, refused, notes };
};

/** `get*`, `*pet*`: a star stands for any characters. */
const matcherOf = (pattern: string): ((name: string) => boolean) => {
  const parts = pattern.split("*");
  return (name) => {
    const [start = "", ...rest] = parts;
    const end = rest.pop();
    if (end === undefined) return name === start;
    if (!name.startsWith(start) || !name.endsWith(end) || name.length < start.length + end.length) return false;
    let from = start.length;
    for (const part of rest) {
      const found = name.indexOf(part, from);
      if (found < 0 || found + part.length > name.length - end.length) return false;
      from = found + part.length;
    }
    return true;
  };
};

/** Compared with the operation id as the document has it, and with the name of the tool without its prefix. */
export const createFilter = (patterns: readonly string[] | undefined): ((operation: NamedOperation) => boolean) => {
  if (patterns === undefined) return () => true;
  const matchers = patterns.map(matcherOf);
  return ({ operationId, shownName }) =>
    matchers.some((matches) => matches(shownName) || (operationId !== undefined && matches(operationId)));
};
