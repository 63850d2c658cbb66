// The README as a program: its fenced blocks, in order, and how shown output is held against what was really said.

export interface Block {
  /** What follows the three backticks: `sh`, `sh stack`, `sh service`, `text`, `ts`. */
  readonly kind: string;
  readonly text: string;
}

export const readBlocks = (markdown: string): readonly Block[] => {
  const blocks: Block[] = [];
  let open: { kind: string; lines: string[] } | undefined;
  for (const line of markdown.split("\n")) {
    if (!line.startsWith("```")) open?.lines.push(line);
    else if (open === undefined) open = { kind: line.slice(3).trim(), lines: [] };
    else {
      blocks.push({ kind: open.kind, text: open.lines.join("\n") });
      open = undefined;
    }
  }
  return blocks;
};

/** The blocks of one section: from its heading to the next of the same level. */
export const sectionOf = (markdown: string, heading: string): string => {
  const start = markdown.indexOf(`\n## ${heading}\n`);
  const end = markdown.indexOf("\n## ", start + 1);
  return start < 0 ? "" : markdown.slice(start, end < 0 ? undefined : end);
};

/** What differs from one run to the next; everything else is compared as it is. */
const MASKS: readonly (readonly [RegExp, string])[] = [
  [/[0-9a-f]{32}/g, "<id>"],
  [/\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?Z/g, "<time>"],
  [/process \d+ on [^)]+\)/g, "process <pid> on <host>)"],
  [/\(in \d+ s\)/g, "(in <n> s)"],
  // A column of durations is as wide as the longest.
  [/ {2}[\d.]+ s +/g, "  <took>  "],
  [/ {2}TOOK +/g, "  TOOK  "],
  [/127\.0\.0\.1:\d+/g, "<address>"],
];

const mask = (line: string): string =>
  MASKS.reduce((text, [pattern, name]) => text.replace(pattern, name), line).trimEnd();

/** Whether the shown lines are what was said; a line of three dots stands for any lines, none included. */
export const matchesShown = (shown: readonly string[], said: readonly string[]): boolean => {
  const [first, ...rest] = shown;
  if (first === undefined) return said.length === 0;
  if (first === "...")
    return Array.from({ length: said.length + 1 }, (_, skipped) => skipped).some((skipped) =>
      matchesShown(rest, said.slice(skipped)),
    );
  const [heard, ...others] = said;
  return heard !== undefined && mask(first) === mask(heard) && matchesShown(rest, others);
};
