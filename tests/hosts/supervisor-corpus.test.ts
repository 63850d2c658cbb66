// Every misbehaving host of the corpus: a call of its bad tool ends as documented and in time, the host serves the next call
// (unless it cannot even start), and nothing is left of it: no process, no handle, bounded memory.

import { setFlagsFromString } from "node:v8";
import { runInNewContext } from "node:vm";
import { createToolHost, type ExecuteResult, type ToolHost } from "@toolplane/bridges";
import { BAD_HOSTS, type BadHost, badHostCommand, findLeftovers, findLeftoversSince, until } from "@toolplane/testkit";
import { afterAll, beforeAll, expect, test } from "vitest";

const MB = 1024 * 1024;
// The longest line and what carries it here; measured figures are in docs/records/hosts-corpus.md.
const ALLOWED_MB = 120;

const NO_START = new Set(["dies_at_init", "refuses_init", "silent_at_init"]);

interface Seen {
  readonly kinds: Set<string>;
  readonly host: ToolHost;
}

const open = (bad: BadHost): Seen => {
  const kinds = new Set<string>();
  const host = createToolHost(
    {
      name: bad.name,
      command: badHostCommand(bad.name, bad.extended),
      cwd: "/",
      limits: {
        graceMs: 300,
        unresponsiveMs: 300,
        startupMs: bad.name === "silent_at_init" ? 1_000 : 20_000,
        helloMs: bad.name === "silent_on_hello" ? 500 : 10_000,
      },
    },
    { onDiagnostic: ({ kind }) => kinds.add(kind) },
  );
  return { kinds, host };
};

const codeOf = ({ outcome }: ExecuteResult): string => (outcome.status === "success" ? "success" : outcome.error.code);

const resources = (): Record<string, number> => {
  const counts: Record<string, number> = {};
  for (const name of process.getActiveResourcesInfo()) {
    // Immediates and timers of the test runner itself come and go.
    if (name === "PipeWrap" || name === "ProcessWrap") counts[name] = (counts[name] ?? 0) + 1;
  }
  return counts;
};

setFlagsFromString("--expose-gc");
const collectGarbage = runInNewContext("gc") as () => void;

const heldBytes = (): number => {
  collectGarbage();
  const { heapUsed, external } = process.memoryUsage();
  return heapUsed + external;
};

/** How much memory grew at most while something runs. A resident size beyond the bound may be garbage: then what is held counts. */
const watchMemory = (): (() => number) => {
  const held = heldBytes();
  const resident = process.memoryUsage().rss;
  let peak = 0;
  /** Milliseconds until the next look: a collection takes time from what is watched. */
  const look = (): number => {
    const grown = process.memoryUsage().rss - resident;
    const isWithin = grown < ALLOWED_MB * MB;
    peak = Math.max(peak, isWithin ? grown : heldBytes() - held);
    return isWithin ? 5 : 100;
  };
  const lookAgain = (): NodeJS.Timeout =>
    setTimeout(() => {
      timer = lookAgain();
    }, look());
  let timer = lookAgain();
  return () => {
    clearTimeout(timer);
    look();
    return peak / MB;
  };
};

const figures: string[] = [];
let handles: Record<string, number> = {};

const before = findLeftovers();
beforeAll(async () => {
  // The guard's process and its pipes stay; they are there before anything is counted.
  const { host } = open({ name: "honest", what: "", ends: "success" });
  await host.start();
  await host.close();
  handles = resources();
});

afterAll(() => {
  expect(findLeftoversSince(before)).toEqual([]);
  process.stdout.write(`\nmisbehaving hosts: call ms, MB above the start\n${figures.join("\n")}\n`);
});

test.each(BAD_HOSTS.map((bad) => [bad.name, bad] as const))(
  "[HOST-4-C1] %s: ends as documented, within its time, and leaves nothing",
  async (_name, bad) => {
    const { host, kinds } = open(bad);
    if (NO_START.has(bad.name)) await expect(host.start()).rejects.toMatchObject({ code: bad.ends });
    else await host.start();
    const given = bad.name === "slow_reader" ? { text: "x".repeat(8 * MB) } : {};
    const deadlineMs = bad.deadlineMs ?? 30_000;
    const memory = watchMemory();
    const began = performance.now();
    const parts: unknown[] = [];
    const emit = (part: unknown): void => {
      if (parts.push(part) > 20_000) throw new TypeError("too many parts");
    };
    const result = await host.execute({ toolName: "bad", arguments: given, deadlineMs, emit });
    const took = performance.now() - began;
    expect(codeOf(result)).toBe(bad.ends);
    if (!NO_START.has(bad.name)) {
      // Whatever it did: the host works, on the same process or on a new one.
      const next = await host.execute({ toolName: "echo", arguments: { a: 1 }, deadlineMs: 30_000 });
      expect(["success", "outcome_unknown", "tool_timeout"]).toContain(codeOf(next));
      const after = await host.execute({ toolName: "echo", arguments: { a: 2 }, deadlineMs: 30_000 });
      expect(after.outcome).toMatchObject({ status: "success", result: { a: 2 } });
    }
    for (const kind of bad.diagnostics ?? []) expect([...kinds]).toContain(kind);
    const { pid } = result;
    await host.close();
    const peak = memory();
    figures.push(`${bad.name.padEnd(24)} ${bad.ends.padEnd(22)} ${Math.round(took)} ms  ${peak.toFixed(0)} MB`);
    expect(peak).toBeLessThan(ALLOWED_MB);
    expect(pid === undefined ? [] : findLeftoversSince(before)).toEqual([]);
    await until("its pipes to be closed", () => JSON.stringify(resources()) === JSON.stringify(handles));
  },
);
