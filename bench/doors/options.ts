// What the command line of the bench may say.

import { parseArgs } from "node:util";
import { UsageError } from "@toolplane/protocol";

export interface CommandOptions {
  readonly levels: readonly number[];
  readonly rounds: number;
  readonly seconds: number;
  /** Keys of contestants; empty: all. */
  readonly only: readonly string[];
  /** Commits to measure beside this tree, the oldest first. */
  readonly baselines: readonly string[];
  readonly install: boolean;
  /** Where the report goes; undefined: only to the terminal. */
  readonly out: string | undefined;
}

const DEFAULTS = { levels: "1,16,64,256", rounds: "3", seconds: "5", only: "" } as const;

const parseNumber = (text: string, name: string): number => {
  const value = Number(text);
  if (Number.isFinite(value) && value > 0) return value;
  throw new UsageError(`--${name} takes a number above 0, not ${text}`);
};

const listOf = (text: string): readonly string[] => text.split(",").filter((one) => one !== "");

/** A run that leaves something out is a look: it does not replace the recorded report unless --out says so. */
export const parseOptions = (argv: readonly string[]): CommandOptions => {
  const { values } = parseArgs({
    args: [...argv],
    options: {
      levels: { type: "string", default: DEFAULTS.levels },
      rounds: { type: "string", default: DEFAULTS.rounds },
      seconds: { type: "string", default: DEFAULTS.seconds },
      only: { type: "string", default: DEFAULTS.only },
      baseline: { type: "string", default: "" },
      out: { type: "string" },
      "no-install": { type: "boolean", default: false },
    },
  });
  const whole = Object.entries(DEFAULTS).every(([name, value]) => values[name as keyof typeof DEFAULTS] === value);
  return {
    levels: values.levels.split(",").map((level) => parseNumber(level, "levels")),
    rounds: parseNumber(values.rounds, "rounds"),
    seconds: parseNumber(values.seconds, "seconds"),
    only: listOf(values.only),
    baselines: listOf(values.baseline),
    install: !values["no-install"],
    out: values.out ?? (whole ? "docs" : undefined),
  };
};
