// Hosts that are killed, and a parent that is killed: every call settles, states stay whole, nothing is left running.

import { rememberProcess, until, untilGone } from "@toolplane/testkit";
import { describe, expect, test } from "vitest";
import { type HostStack, NODE_HOST, PATIENT, PYTHON_HOST, startHostStack } from "./end-to-end-stack.ts";

const CALLS = 200;
const RUN_MS = 300;
/** The first of each kind: not over before the kill, however late a busy machine sees that the hosts are busy. */
const FIRST = 4;
const FIRST_MS = 8_000;
const TEST_MS = 120_000;

interface Settled {
  readonly status: string;
  readonly result?: { readonly pid?: number; readonly count?: number };
  readonly error?: { readonly code: string };
  readonly tool_call_id: string;
}

const start = (): Promise<HostStack> =>
  startHostStack([
    { name: "text", command: NODE_HOST, pool: 2, retry_safe: ["slow_safe"], limits: PATIENT },
    { name: "memory", command: NODE_HOST, session: "agent", retry_safe: ["count"], limits: PATIENT },
    { name: "data", command: PYTHON_HOST, limits: PATIENT },
  ]);

const pidsOf = async (stack: HostStack): Promise<readonly number[]> =>
  // A process that is being started has no id yet.
  (await stack.hosts()).flatMap(({ processes }) =>
    processes.flatMap(({ pid }) => (typeof pid === "number" ? pid : [])),
  );

describe("a host that is killed", () => {
  test(
    `[HOST-4-T3] in the middle of ${CALLS} calls: all settle, safe ones succeed on a new process, unsafe ones are outcome_unknown`,
    async () => {
      await using stack = await start();
      const make = (tool: string, args: object): Promise<Settled> =>
        stack.call(tool, args) as unknown as Promise<Settled>;
      const [safe, unsafe]: [Promise<Settled>[], Promise<Settled>[]] = [[], []];
      // In turns: whatever runs when the host is killed is of both kinds.
      for (let n = 0; n < CALLS / 2; n += 1) {
        const ms = n < FIRST ? FIRST_MS : RUN_MS;
        safe.push(make("text__slow_safe", { n, ms }));
        unsafe.push(make("text__slow", { n, ms }));
      }
      let over = 0;
      for (const call of [...safe, ...unsafe]) void call.then(() => over++);
      const counted = Array.from({ length: 30 }, () => make("memory__count", {}));
      const busy = async (name: string, least: number): Promise<boolean> => {
        const host = (await stack.hosts()).find((one) => one.name === name);
        const running = host?.processes as readonly { readonly in_flight: number }[] | undefined;
        return (running ?? []).reduce((sum, { in_flight }) => sum + in_flight, 0) >= least;
      };
      // A host that has answered later calls has begun the first ones: killed before, it would have lost nothing.
      await until("calls to be over, and both hosts busy", async () => over >= 8 && (await busy("text", 8)), TEST_MS);
      const killed = new Set(await pidsOf(stack));
      for (const pid of killed) process.kill(pid, "SIGKILL");

      const settledSafe = await Promise.all(safe);
      const settledUnsafe = await Promise.all(unsafe);
      const settledCounts = await Promise.all(counted);

      expect(settledSafe.filter(({ status }) => status !== "success")).toEqual([]);
      expect(settledSafe.some(({ result }) => !killed.has(result?.pid ?? 0))).toBe(true);

      const lost = settledUnsafe.filter(({ status }) => status !== "success");
      expect(lost.length).toBeGreaterThan(0);
      expect(new Set(lost.map(({ status, error }) => `${status} ${error?.code}`))).toEqual(
        new Set(["failed outcome_unknown"]),
      );

      // Whatever was run twice, every session counted each of its calls once.
      expect(settledCounts.filter(({ status }) => status !== "success")).toEqual([]);
      const counts = settledCounts.map(({ result }) => result?.count ?? 0).sort((a, b) => a - b);
      expect(counts).toEqual(Array.from({ length: counts.length }, (_, index) => index + 1));

      const open = await stack.get("/calls?status=running");
      expect(open.items).toEqual([]);
      const areReady = async (): Promise<boolean> => (await stack.hosts()).every(({ state }) => state === "ready");
      await until("all hosts to be ready again", areReady, TEST_MS);
      expect(await stack.call("text__slow", { ms: 1 })).toMatchObject({ status: "success" });

      expect(await stack.call("data__slow", { ms: 1 })).toMatchObject({ status: "success" });
      expect(await stack.call("text__die")).toMatchObject({ status: "failed", error: { code: "outcome_unknown" } });
      expect(await stack.call("text__slow", { ms: 1 })).toMatchObject({ status: "success" });
    },
    TEST_MS,
  );
});

describe("a parent that goes", () => {
  test(
    "[HOST-4-T4] killed: no process of a host is left",
    async () => {
      await using stack = await start();
      void stack.call("text__slow", { ms: 60_000 }).catch(() => undefined);
      void stack.call("data__slow", { ms: 60_000 }).catch(() => undefined);
      const hosts = (await pidsOf(stack)).map(rememberProcess);
      expect(hosts.length).toBeGreaterThanOrEqual(3);
      stack.up.signal("SIGKILL");
      await stack.up.exited;
      await untilGone(hosts);
    },
    TEST_MS,
  );

  test(
    "[HOST-4-T4] told to stop: it drains, exits with 0, and none is left",
    async () => {
      await using stack = await start();
      const last = stack.call("text__slow", { ms: 500 });
      await until(
        "the call to run",
        async () => JSON.stringify(await stack.hosts()).includes('"in_flight":1'),
        TEST_MS,
      );
      const hosts = (await pidsOf(stack)).map(rememberProcess);
      expect(await stack.up.stop()).toBe(0);
      expect(await last).toMatchObject({ status: expect.stringMatching(/success|running/) });
      await untilGone(hosts);
    },
    TEST_MS,
  );
});
