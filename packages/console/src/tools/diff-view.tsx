// Two definitions, line by line.

import { type ReactNode, useState } from "react";
import { Text } from "../text/text.tsx";
import { type DiffBlock, diffLines, foldSame } from "./line-diff.ts";

const SIGNS = { same: " ", added: "+", removed: "−" } as const;
const WORDS = { same: "", added: "added", removed: "removed" } as const;
const LINE_CHARS = 2_000;

const Block = ({ block }: { readonly block: DiffBlock }): ReactNode => {
  const [isOpen, setOpen] = useState(!block.isFolded);
  if (!isOpen)
    return (
      <button type="button" className="button quiet" onClick={() => setOpen(true)}>
        {`${block.lines.length} lines are the same`}
      </button>
    );
  return block.lines.map(({ kind, text }, at) => (
    // biome-ignore lint/suspicious/noArrayIndexKey: lines have no other identity, and never move
    <div key={at} className={`diff-line ${kind}`}>
      <span aria-hidden="true">{SIGNS[kind]}</span>
      {kind !== "same" && <span className="visually-hidden">{WORDS[kind]}: </span>}
      <Text most={LINE_CHARS}>{text}</Text>
    </div>
  ));
};

const pretty = (value: unknown): string => (value === undefined ? "" : JSON.stringify(value, null, 2));

export const DiffView = ({ before, after }: { readonly before: unknown; readonly after: unknown }): ReactNode => (
  <div className="diff">
    {foldSame(diffLines(pretty(before), pretty(after))).map((block, at) => (
      // biome-ignore lint/suspicious/noArrayIndexKey: blocks have no other identity, and never move
      <Block key={at} block={block} />
    ))}
  </div>
);
