// The protocol's own test suite as a program: its checks by scenario, and what differs from the list of expected failures.

import { spawn } from "node:child_process";
import { mkdtempSync, readdirSync, readFileSync, rmSync } from "node:fs";
import { createRequire } from "node:module";
import { tmpdir } from "node:os";
import { dirname, join, relative } from "node:path";
import { parse } from "yaml";

const FOLDER = dirname(createRequire(import.meta.url).resolve("@modelcontextprotocol/conformance/package.json"));
const SUITE = join(FOLDER, "dist/index.js");
const PATIENT = new URL("./patient-deadlines.ts", import.meta.url).href;

/** A machine that does ten things at once is slow, not wrong. */
const SCENARIO_MS = "120000";

interface Check {
  readonly id: string;
  readonly status: string;
  readonly errorMessage?: string;
}

export interface SuiteRun {
  /** What went wrong in each scenario that was run; empty when it passed. */
  readonly scenarios: ReadonlyMap<string, readonly string[]>;
  readonly said: string;
}

const failuresOf = (checks: readonly Check[]): readonly string[] =>
  checks.filter(({ status }) => status === "FAILURE").map(({ id, errorMessage }) => `${id}: ${errorMessage ?? ""}`);

/** `server-tools-list-2026-...`, `auth/iss-supported-2026-...`: the scenario without its side and its time. */
const scenarioOf = (folder: string): string => folder.replace(/^server-/, "").replace(/-\d{4}-\d\d-\d\dT.*$/, "");

const readRun = (out: string): ReadonlyMap<string, readonly string[]> =>
  new Map(
    readdirSync(out, { recursive: true, withFileTypes: true })
      .filter(({ name }) => name === "checks.json")
      .map(({ parentPath }) => {
        const checks = JSON.parse(readFileSync(join(parentPath, "checks.json"), "utf8")) as Check[];
        return [scenarioOf(relative(out, parentPath)), failuresOf(checks)] as const;
      }),
  );

export const runSuite = async (side: "server" | "client", args: readonly string[]): Promise<SuiteRun> => {
  const out = mkdtempSync(join(tmpdir(), "toolplane-conformance-"));
  try {
    const child = spawn(process.execPath, ["--import", PATIENT, SUITE, side, ...args, "-o", out], {
      stdio: ["ignore", "pipe", "pipe"],
    });
    let said = "";
    for (const stream of [child.stdout, child.stderr])
      stream.on("data", (chunk: Buffer) => {
        said += chunk.toString();
      });
    await new Promise((resolve) => child.on("close", resolve));
    return { scenarios: readRun(out), said };
  } finally {
    rmSync(out, { recursive: true, force: true });
  }
};

/** Every scenario that a revision has for clients, those that it does not score included. */
export const clientScenarios = (revision: string): readonly string[] => {
  const { client, not_scored: more } = parse(
    readFileSync(join(FOLDER, "requirements", `${revision}.yaml`), "utf8"),
  ) as {
    readonly client: readonly string[];
    readonly not_scored: readonly { readonly scenario: string; readonly leg: string }[];
  };
  return [...client, ...more.filter(({ leg }) => leg === "client").map(({ scenario }) => scenario)];
};

/** The given scenarios against a client, two at a time: the suite itself would start the client for all of them at once. */
export const runClientScenarios = async (
  command: string,
  revision: string,
  scenarios: readonly string[],
): Promise<SuiteRun> => {
  const left = [...scenarios];
  const runs: SuiteRun[] = [];
  const work = async (): Promise<void> => {
    for (let scenario = left.shift(); scenario !== undefined; scenario = left.shift())
      runs.push(
        await runSuite("client", [
          ...["--command", command, "--scenario", scenario],
          ...["--spec-version", revision, "--timeout", SCENARIO_MS],
        ]),
      );
  };
  await Promise.all([work(), work()]);
  return {
    scenarios: new Map(runs.flatMap((run) => [...run.scenarios])),
    said: runs.map(({ said }) => said.slice(-1_000)).join("\n"),
  };
};

export interface Difference {
  /** Scenarios that fail and should not, with what went wrong. */
  readonly surprises: readonly (readonly [string, readonly string[]])[];
  /** Expected failures that pass, or that were not run: the list is out of date. */
  readonly stale: readonly string[];
}

const isNamed = (pattern: string, scenario: string): boolean =>
  pattern.endsWith("*") ? scenario.startsWith(pattern.slice(0, -1)) : scenario === pattern;

export const compareWith = (expected: Readonly<Record<string, string>>, { scenarios }: SuiteRun): Difference => {
  const patterns = Object.keys(expected);
  const failed = [...scenarios].filter(([, failures]) => failures.length > 0);
  const passed = [...scenarios.keys()].filter((name) => failed.every(([other]) => other !== name));
  const isStale = (pattern: string): boolean =>
    passed.some((name) => isNamed(pattern, name)) || failed.every(([name]) => !isNamed(pattern, name));
  return {
    surprises: failed.filter(([name]) => !patterns.some((pattern) => isNamed(pattern, name))),
    stale: patterns.filter(isStale),
  };
};
