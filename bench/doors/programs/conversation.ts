// How the harness and the programs of a contestant talk: one JSON value per line on stdin and stdout. Libraries print to
// stdout too, so the lines that are meant carry a mark.

import { createInterface } from "node:readline";

export const MARK = "bench: ";

/** What every program gets, as JSON in BENCH_CONFIG. */
export interface ProgramConfig {
  /** The file whose `openCaller` or `openWorker` is run. */
  readonly module: string;
  /** Another function of the module in place of `openCaller`. */
  readonly opens?: string | undefined;
  readonly databaseUrl?: string | undefined;
  readonly url?: string | undefined;
  readonly adminUrl?: string | undefined;
  readonly token?: string | undefined;
  readonly project?: string | undefined;
  /** Where a program of ours writes down what it saw, for the checker. */
  readonly journal?: string | undefined;
  readonly port?: number | undefined;
}

export const readConfig = (): ProgramConfig => JSON.parse(process.env.BENCH_CONFIG ?? "{}") as ProgramConfig;

export const say = (value: object): void => {
  process.stdout.write(`${MARK}${JSON.stringify(value)}\n`);
};

/** Answers every line that the harness sends, one after the other; undefined ends it. */
export const answerLines = async (answer: (order: unknown) => Promise<object | undefined>): Promise<void> => {
  for await (const line of createInterface({ input: process.stdin })) {
    let answered: object | undefined;
    try {
      answered = await answer(JSON.parse(line));
    } catch (error) {
      answered = { failed: error instanceof Error ? error.message : String(error) };
    }
    if (answered === undefined) return;
    say(answered);
  }
};
