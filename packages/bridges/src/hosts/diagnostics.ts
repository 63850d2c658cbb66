// What hosts do wrong without breaking a call, reported to the log and to listeners, a limited number of times. Excerpts of
// output are short, scrubbed and on one line.

import type { Log } from "@toolplane/sdk";
import type { Border } from "./border.ts";
import type { DiagnosticKind, HostDiagnostic } from "./host.ts";
import type { Timers } from "./timers.ts";

/** Enough to see what a host prints, few enough that a host in a loop does not fill a disk. */
const PER_WINDOW = 20;
const WINDOW_MS = 10_000;
const EXCERPT_CHARACTERS = 200;

export interface Diagnostics {
  report(kind: DiagnosticKind, message: string, pid: number | undefined, output?: string): void;
}

export interface DiagnosticsPorts {
  readonly log: Log;
  readonly timers: Timers;
  readonly border: Border;
  readonly onDiagnostic: (diagnostic: HostDiagnostic) => void;
}

interface Count {
  since: number;
  told: number;
  suppressed: number;
}

const oneLine = (text: string): string => {
  let line = "";
  for (const character of text) {
    const code = character.codePointAt(0) ?? 0;
    line += code < 32 || code === 127 ? " " : character;
  }
  return line;
};

/** The beginning of a text, for people. */
export const excerpt = (text: string, border: Border): string => {
  // Scrubbed before it is cut: half a secret is still secret.
  const most = EXCERPT_CHARACTERS * 4;
  const scrubbed = text.length > most ? border.start(text.slice(0, most)) : border.text(text);
  const short = scrubbed.length > EXCERPT_CHARACTERS ? `${scrubbed.slice(0, EXCERPT_CHARACTERS)}...` : scrubbed;
  return oneLine(short.toWellFormed());
};

export const createDiagnostics = (host: string, ports: DiagnosticsPorts): Diagnostics => {
  const counts = new Map<DiagnosticKind, Count>();
  return {
    report: (kind, message, pid, output) => {
      const now = ports.timers.now();
      let count = counts.get(kind);
      if (count === undefined || now - count.since >= WINDOW_MS) {
        count = { since: now, told: 0, suppressed: count?.suppressed ?? 0 };
        counts.set(kind, count);
      }
      if (count.told >= PER_WINDOW) {
        count.suppressed += 1;
        return;
      }
      count.told += 1;
      const { suppressed } = count;
      count.suppressed = 0;
      const shown = output === undefined ? message : `${message}: ${excerpt(output, ports.border)}`;
      ports.log.warn(`host ${host}: ${shown}`, { kind, pid, suppressed: suppressed === 0 ? undefined : suppressed });
      ports.onDiagnostic({ kind, message: shown, pid, suppressed });
    },
  };
};
