// Entries of a list of the configuration, each with a name of its own: where a part of an entry stands, and that no two have one name.

import type { ConfigFile, FileConfig } from "./config-file.ts";
import { refuseConfig } from "./refuse.ts";

export type OpenedConfig = ConfigFile & { readonly directory: string };

type ListKey = "hosts" | "openapi" | "mcp_servers";
type Entry<Key extends ListKey> = NonNullable<FileConfig[Key]>[number];

/** Where a part of an entry stands, for messages: its line, and its path in the file. */
export type Place = (...path: PropertyKey[]) => string;

export const placeOf =
  (file: OpenedConfig | undefined, key: ListKey, index: number): Place =>
  (...path) => {
    const where = file?.where([key, index, ...path] as (string | number)[]) ?? "";
    return `${where}: ${key}[${index}].${path.map(String).join(".")}`;
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
