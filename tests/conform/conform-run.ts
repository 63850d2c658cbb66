// conform inside the test: the service is a function, the terminal is a text.

import { defineTool } from "@toolplane/sdk";
import { type CliIo, type ConformOptions, createCliIo, runConform } from "@toolplane/server/internal";
import { type NamedService, startPlainService } from "@toolplane/testkit";
import { z } from "zod";

export interface ReportedClause {
  readonly id: string;
  readonly title: string;
  readonly section: string;
  readonly verdict: "pass" | "fail" | "not-applicable";
  readonly reason: string;
}

export interface ConformReport {
  readonly target: string;
  readonly tool_name: string;
  readonly transport: "http" | "nats";
  readonly steps: "one" | "two";
  readonly clauses: readonly ReportedClause[];
  readonly summary: { readonly pass: number; readonly fail: number; readonly not_applicable: number };
}

export interface Terminal {
  readonly io: CliIo;
  readonly out: () => string;
  readonly err: () => string;
  /** As Ctrl-C would. */
  readonly stop: () => void;
}

export const TARGET = "text";

/** For services of the sdk. */
export const countWords = defineTool({
  name: "count_words",
  description: "Count the words of a text",
  parameters: z.object({ text: z.string() }),
  retry: "safe",
  run: async ({ text }) => ({ words: text.split(" ").length }),
});

/** Long enough for a loaded machine; only services that owe an answer make a test wait for it. */
const TIMEOUT_MS = 5_000;
/** The right services renew after a quarter of it. */
const LEASE_MS = 800;

export const createTerminal = (given: Partial<CliIo> = {}): Terminal => {
  let [out, err] = ["", ""];
  const heard = new Set<() => void>();
  const io = createCliIo({
    stdout: { write: (text) => (out += text) },
    stderr: { write: (text) => (err += text) },
    env: {},
    cwd: process.cwd(),
    onStop: (listener) => {
      heard.add(listener);
      return () => heard.delete(listener);
    },
    exit: () => {},
    ...given,
  });
  return {
    io,
    out: () => out,
    err: () => err,
    stop: () => {
      for (const listener of heard) listener();
    },
  };
};

export const conform = async (options: Partial<ConformOptions>, terminal = createTerminal()): Promise<number> =>
  runConform({ target: TARGET, http: true, timeoutMs: TIMEOUT_MS, leaseMs: LEASE_MS, ...options }, terminal.io);

/** What conform says, for programs. */
export const reportOn = async (
  options: Partial<ConformOptions>,
): Promise<{ readonly code: number; readonly report: ConformReport }> => {
  const terminal = createTerminal();
  const code = await conform({ ...options, json: true }, terminal);
  return { code, report: JSON.parse(terminal.out()) as ConformReport };
};

export const launchPlain = ({ habits }: NamedService): Pick<ConformOptions, "launch"> => ({
  launch: async (connection) => startPlainService(habits, { ...connection, target: TARGET }),
});

export const failedIn = ({ clauses }: ConformReport): readonly string[] =>
  clauses.filter(({ verdict }) => verdict === "fail").map(({ id }) => id);

/** Clause and reason of everything that failed; a better message than a list of ids. */
export const faultsIn = ({ clauses }: ConformReport): readonly string[] =>
  clauses.filter(({ verdict }) => verdict === "fail").map(({ id, reason }) => `${id}: ${reason}`);
