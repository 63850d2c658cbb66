// What callers and services of ours saw, kept in memory while the clock runs and written to the journal at the end. The
// checker of the crash suites holds the database against it: what was answered is there, once, and what succeeded ran.

import { appendFileSync } from "node:fs";
import type { JournalLine } from "@toolplane/testkit";

export interface Accounts {
  add(line: JournalLine): void;
  write(): void;
}

export const openAccounts = (journal: string | undefined): Accounts => {
  const lines: JournalLine[] = [];
  return {
    add: (line) => void lines.push(line),
    write() {
      if (journal === undefined) return;
      appendFileSync(journal, lines.map((line) => `${JSON.stringify(line)}\n`).join(""));
      lines.length = 0;
    },
  };
};

export const ranLine = (call: string): JournalLine => ({ what: "effect", call, attempt: 1, by: "bench" });

interface Answered {
  readonly project: string;
  readonly call: string;
  readonly card: string;
}

/** A call that was answered with its result. */
export const answeredLines = ({ project, call, card }: Answered): readonly JournalLine[] => [
  { what: "accepted", item: call, project, call, outcomes: ["success"] },
  { what: "reported", call, card, status: "success" },
];
