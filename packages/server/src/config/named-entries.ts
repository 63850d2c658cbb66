// Entries of a list of the configuration, each with a name of its own: where a part of an entry stands, and that no two have one name.

import { isToken } from "@toolplane/protocol";
import type { EnvGrant } from "../secrets/env-grants.ts";
import type { ConfigFile, FileConfig } from "./config-file.ts";
import { refuseConfig } from "./refuse.ts";

export type OpenedConfig = ConfigFile & { readonly directory: string };

type ListKey = "hosts" | "openapi" | "mcp_servers";
type Entry<Key extends ListKey> = NonNullable<FileConfig[Key]>[number];

/** Where a part of an entry stands, for messages: its line, and its path in the file. */
export type Place = (...path: PropertyKey[]) => string;

const placeOf =
  (file: OpenedConfig | undefined, key: ListKey, index: number): Place =>
  (...path) => {
    const where = file?.where([key, index, ...path] as (string | number)[]) ?? "";
    return `${where}: ${key}[${index}].${path.map(String).join(".")}`;
  };

export interface EntryMeans {
  readonly directory: string;
  readonly grants: readonly EnvGrant[];
  readonly projectId: string;
}

/** A name is part of a subject or of the names of tools; this leaves room for the rest. */
const MAX_NAME_LENGTH = 40;

/** `what`: the entry in a sentence, such as `an API`. */
export const checkEntryName = (name: string, at: Place, what: string): void => {
  if (!isToken(name) || name.length > MAX_NAME_LENGTH)
    throw refuseConfig(`${at("name")}: ${what}'s name has 1 to ${MAX_NAME_LENGTH} of the characters A-Z a-z 0-9 _ -`);
};

export const checkPrefix = (prefix: string | undefined, at: Place): void => {
  if (prefix !== undefined && prefix !== "" && (!isToken(prefix) || prefix.length > MAX_NAME_LENGTH))
    throw refuseConfig(`${at("prefix")}: a prefix has at most ${MAX_NAME_LENGTH} of the characters A-Z a-z 0-9 _ -`);
};

/** `what`: the entries in a sentence, such as `two APIs are named pets`. */
export const readNamed = <Key extends ListKey, Setting extends { readonly name: string }>(
  file: OpenedConfig | undefined,
  { key, what }: { readonly key: Key; readonly what: string },
  read: (entry: Entry<Key>, at: Place) => Setting,
): readonly Setting[] => {
  const names = new Set<string>();
  return ((file?.config[key] ?? []) as readonly Entry<Key>[]).map((entry, index) => {
    const at = placeOf(file, key, index);
    const setting = read(entry, at);
    if (names.has(setting.name)) throw refuseConfig(`${at("name")}: two ${what} are named ${setting.name}`);
    names.add(setting.name);
    return setting;
  });
};
