// `toolplane host check` inside the test: the terminal is a text, the host a process.

import { createCliIo, type HostCheckOptions, runHostCheck } from "@toolplane/server/internal";
import { programEnv } from "@toolplane/testkit";

export interface CheckReport {
  readonly command: readonly string[];
  readonly clauses: readonly {
    readonly id: string;
    readonly title: string;
    readonly section: string;
    readonly verdict: "pass" | "fail" | "not-applicable";
    readonly reason: string;
  }[];
  readonly summary: { readonly pass: number; readonly fail: number; readonly not_applicable: number };
}

/** Long enough for a loaded machine; only hosts that owe an answer make a test wait for it. */
const TIMEOUT_MS = 4_000;

export interface Checked {
  readonly code: number;
  readonly out: string;
  readonly err: string;
}

export const check = async (options: HostCheckOptions): Promise<Checked> => {
  let [out, err] = ["", ""];
  const io = createCliIo({
    stdout: { write: (text) => (out += text) },
    stderr: { write: (text) => (err += text) },
    env: { ...programEnv(), HOME: process.env.HOME ?? "/" },
    cwd: process.cwd(),
    onStop: () => () => {},
    exit: () => {},
  });
  const code = await runHostCheck({ timeoutMs: TIMEOUT_MS, ...options }, io);
  return { code, out, err };
};

export const report = async (
  options: HostCheckOptions,
): Promise<{ readonly code: number; readonly report: CheckReport }> => {
  const { code, out } = await check({ ...options, json: true });
  return { code, report: JSON.parse(out) as CheckReport };
};

export const failedIn = ({ clauses }: CheckReport): readonly string[] =>
  clauses.filter(({ verdict }) => verdict === "fail").map(({ id }) => id);
