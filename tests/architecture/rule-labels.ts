// Labels of rules (`RO2`): read from the headers of source files, and from the list in docs/architecture.md.

/** One entry of the list: the prefix of a label, and the files that share its rules. */
export interface LabelEntry {
  readonly prefix: string;
  readonly paths: readonly string[];
}

const FOLDER_ROW = /^\| `([^`]+)` \| ((?:[A-Z]{1,3} `[^`]+`(?: and `[^`]+`)*(?:, )?)+) \|$/gm;
const ENTRY = /([A-Z]{1,3}) ((?:`[^`]+`(?: and )?)+)/g;
const DEFINITION = /^\s*(?:\/\/|#)?\s*([A-Z]{1,3})\d{1,2}\. {1,2}\S/gm;

/** The invariants of the whole system; every file may repeat them. */
const SHARED_PREFIX = "I";

export const parseLabelTable = (page: string): readonly LabelEntry[] =>
  [...page.matchAll(FOLDER_ROW)].flatMap(([, folder, entries = ""]) =>
    [...entries.matchAll(ENTRY)].map(([, prefix = "", files = ""]) => ({
      prefix,
      paths: [...files.matchAll(/`([^`]+)`/g)].map(([, file]) => `${folder}/${file}`),
    })),
  );

/** The prefixes of the rules that a file defines: lines of comments that begin with a label and a full stop. */
export const definedPrefixes = (text: string): readonly string[] => [
  ...new Set([...text.matchAll(DEFINITION)].map(([, prefix = ""]) => prefix)),
];

/** One sentence per prefix that is listed twice, and per difference between the list and the sources. */
export const compareLabels = (
  entries: readonly LabelEntry[],
  sources: ReadonlyMap<string, string>,
): readonly string[] => {
  const drift: string[] = [];
  const owners = new Map<string, readonly string[]>();
  for (const { prefix, paths } of entries) {
    const before = owners.get(prefix);
    if (before === undefined) owners.set(prefix, paths);
    else drift.push(`${prefix} is listed for ${before.join(" and ")}, and again for ${paths.join(" and ")}`);
  }
  for (const [path, text] of sources) {
    for (const prefix of definedPrefixes(text)) {
      if (prefix === SHARED_PREFIX || owners.get(prefix)?.includes(path)) continue;
      const others = owners.get(prefix)?.join(" and ");
      drift.push(
        `${path} defines rules ${prefix}1..., which ${others === undefined ? "are not listed" : `belong to ${others}`}`,
      );
    }
  }
  for (const [prefix, paths] of owners) {
    for (const path of paths) {
      if (!definedPrefixes(sources.get(path) ?? "").includes(prefix)) drift.push(`${path} defines no rule ${prefix}1`);
    }
  }
  return drift;
};
