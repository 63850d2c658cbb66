// Limits of a host at work: how many run at once, how many wait, how long, and what happens after crashes.

import type { HostLimits, HostOptions, HostPorts, ToolHost } from "@toolplane/bridges";
import { badHostCommand, findLeftovers, findLeftoversSince, isRunning, until } from "@toolplane/testkit";
import { describe, expect, test } from "vitest";
import { createHostOpener } from "./host-opener.ts";

const PATIENCE_MS = 60_000;
const before = findLeftovers();
const openHost = createHostOpener();

const start = (
  habit: string,
  limits: Partial<HostLimits> = {},
  more: { extended?: boolean; options?: Partial<HostOptions>; ports?: HostPorts } = {},
): ToolHost => {
  const command = badHostCommand(habit, more.extended);
  const settled = { helloMs: 10_000, graceMs: 300, ...limits };
  return openHost({ name: habit, command, cwd: "/", limits: settled, ...more.options }, more.ports);
};

const run = (host: ToolHost, toolName: string, ms = 0, deadlineMs = PATIENCE_MS) =>
  host.execute({ toolName, arguments: { ms }, deadlineMs });
const codes = async (calls: readonly ReturnType<ToolHost["execute"]>[]): Promise<readonly string[]> =>
  (await Promise.all(calls)).map(({ outcome }) => (outcome.status === "success" ? "success" : outcome.error.code));
const inFlight = (host: ToolHost): readonly number[] => host.status().processes.map((process) => process.inFlight);
const pids = (host: ToolHost): readonly (number | undefined)[] => host.status().processes.map(({ pid }) => pid);
const times = <Value>(count: number, make: (index: number) => Value): Value[] =>
  Array.from({ length: count }, (_, i) => make(i));

describe("how many at once", () => {
  test("[HOST-4-17] a host that cannot cancel gets one request per process; the pool gives concurrency", async () => {
    const host = start("says_no", { pool: 2 });
    const calls = times(6, () => run(host, "wait", 50));
    const most = new Set<string>();
    await until(
      "all calls to be given out",
      () => {
        most.add(JSON.stringify(inFlight(host)));
        return host.status().queued === 0;
      },
      PATIENCE_MS,
    );
    expect(await codes(calls)).toEqual(times(6, () => "success"));
    for (const seen of most) expect(Math.max(0, ...(JSON.parse(seen) as number[]))).toBeLessThanOrEqual(1);
    expect(host.status().starts).toBe(2);
    expect(new Set((await Promise.all(calls)).map(({ pid }) => pid)).size).toBe(2);
  });

  test("[HOST-4-3] one that can gets as many as the limit says, the rest waits", async () => {
    const host = start("honest", { inFlight: 5 }, { extended: true });
    await host.start();
    const calls = times(12, () => run(host, "wait", 100));
    expect([inFlight(host), host.status().queued]).toEqual([[5], 7]);
    expect(await codes(calls)).toEqual(times(12, () => "success"));
  });

  test("[HOST-4-3] [HOST-6-2] bytes in flight are capped, and one large call always passes", async () => {
    const host = start("honest", { bytesInFlight: 10_000 }, { extended: true });
    await host.start();
    const text = "x".repeat(6_000);
    const calls = times(8, () => host.execute({ toolName: "echo", arguments: { text } }));
    expect(inFlight(host)).toEqual([2]);
    calls.push(host.execute({ toolName: "echo", arguments: { text: "y".repeat(50_000) } }));
    expect(await codes(calls)).toEqual(times(9, () => "success"));
  });

  test("[HOST-4-3] one call too many in the queue is rate_limited, at once", async () => {
    const host = start("says_no", { queue: 2 });
    await host.start();
    const calls = times(3, () => run(host, "wait", 50));
    expect(await codes([run(host, "echo")])).toEqual(["rate_limited"]);
    expect([inFlight(host), host.status().queued]).toEqual([[1], 2]);
    expect(await codes(calls)).toEqual(times(3, () => "success"));
    expect(host.status().queued).toBe(0);
  });
});

describe("deadlines and cancellation", () => {
  test("[HOST-4-10] [HOST-4-2] a missed deadline is tool_timeout, and the process of a host that cannot cancel is ended", async () => {
    const host = start("never_answers");
    await host.start();
    const [pid = 0] = pids(host);
    const result = await run(host, "bad", 0, 200);
    expect(result.outcome).toMatchObject({ error: { code: "tool_timeout", detail: { started: true } }, written: true });
    await until("its process to be gone", () => !isRunning(pid), PATIENCE_MS);
    expect(host.status()).toMatchObject({ crashes: 0, breaker: { state: "closed" } });
  });

  test("[HOST-4-10] the deadline counts while a call waits, which then was not started", async () => {
    const host = start("says_no");
    const first = run(host, "wait", 400);
    const second = await run(host, "echo", 0, 100);
    expect(second).toMatchObject({
      outcome: { error: { code: "tool_timeout", detail: { started: false } } },
      attempts: 0,
    });
    expect(await codes([first])).toEqual(["success"]);
  });

  test("[HOST-4-10] a host that notices the deadline first says the same: tool_timeout", async () => {
    const host = start("honest", {}, { extended: true });
    await host.start();
    const result = await run(host, "overdue", 0, 400);
    expect(result.outcome).toMatchObject({ error: { code: "tool_timeout" }, written: true });
    expect(inFlight(host)).toEqual([0]);
  });

  test("[HOST-5-2] a host that can is told, and goes on: its other calls are not hurt", async () => {
    const host = start("honest", {}, { extended: true });
    await host.start();
    const [pid] = pids(host);
    const other = run(host, "wait", 600);
    expect(await codes([run(host, "wait", PATIENCE_MS, 100)])).toEqual(["tool_timeout"]);
    await until("the call to be over there too", () => inFlight(host)[0] === 1, PATIENCE_MS);
    expect(await codes([other])).toEqual(["success"]);
    expect(pids(host)).toEqual([pid]);
  });

  test("[HOST-4-P2] a signal that aborts is canceled, whether the call runs or waits or has not begun", async () => {
    const host = start("says_no");
    await host.start();
    const controller = new AbortController();
    const call = (toolName: string) =>
      host.execute({ toolName, arguments: { ms: PATIENCE_MS }, signal: controller.signal });
    const calls = [call("wait"), call("wait")];
    controller.abort();
    expect(await codes([...calls, call("wait")])).toEqual(["canceled", "canceled", "canceled"]);
    expect(await codes([run(host, "echo")])).toEqual(["success"]);
  });

  test("[HOST-4-P3] who ignores cancel gets nothing more, and is ended when only stuck calls are left", async () => {
    const heard: string[] = [];
    const ports = { onDiagnostic: ({ message }: { message: string }) => heard.push(message) };
    const host = start("ignores_cancel", {}, { extended: true, ports });
    await host.start();
    const [pid] = pids(host);
    const other = run(host, "wait", 1_200);
    expect(await codes([run(host, "bad", 0, 100)])).toEqual(["tool_timeout"]);
    await until("it to be left alone", () => host.status().processes[0]?.state === "draining", PATIENCE_MS);
    const next = run(host, "echo");
    expect(await codes([other, next])).toEqual(["success", "success"]);
    expect((await other).pid).toBe(pid);
    expect((await next).pid).not.toBe(pid);
    expect(heard).toContain("ended, because calls that were canceled did not end");
  });

  test("[HOST-4-P3] a second call that is stuck after the first ends it as well, and the next call has a new process", async () => {
    const host = start("ignores_cancel", {}, { extended: true });
    await host.start();
    const [pid] = pids(host);
    const first = run(host, "bad", 0, 100);
    const second = run(host, "bad", 0, 1_500);
    expect(await codes([first])).toEqual(["tool_timeout"]);
    await until("it to be left alone", () => host.status().processes[0]?.state === "draining", PATIENCE_MS);
    expect(await codes([second])).toEqual(["tool_timeout"]);
    const next = run(host, "echo");
    expect(await codes([next])).toEqual(["success"]);
    expect((await next).pid).not.toBe(pid);
  });

  test("[HOST-4-P3] one that does not even answer a ping is ended, and its other calls are told or run again", async () => {
    const host = start("blocks", { unresponsiveMs: 300 }, { extended: true, options: { retrySafe: ["echo"] } });
    await host.start();
    const stuck = run(host, "bad", 0, 100);
    const [unsafe, safe] = [run(host, "wait", 10), run(host, "echo")];
    expect(await codes([stuck, unsafe, safe])).toEqual(["tool_timeout", "outcome_unknown", "success"]);
  });
});

describe("after crashes", () => {
  test("[HOST-4-9] [HOST-4-8] a crash in the call: unknown for most tools, tried again and then unavailable for safe ones", async () => {
    const host = start("dies_mid_call", {}, { options: { retrySafe: ["d*e"] } });
    expect(await run(host, "bad")).toMatchObject({
      outcome: { error: { code: "outcome_unknown" }, written: true },
      attempts: 1,
    });
    expect(await run(host, "die")).toMatchObject({ outcome: { error: { code: "upstream_unavailable" } }, attempts: 3 });
    expect(host.status()).toMatchObject({
      crashes: 4,
      lastFailure: "its process was ended by SIGKILL (the system does this when memory runs out)",
    });
  });

  test("[HOST-4-4] a host that leaves cleanly between two calls has not crashed, however often it does", async () => {
    const host = start("no_newline_at_the_end", { breakerCrashes: 2 });
    for (let i = 0; i < 3; i += 1) {
      expect(await codes([run(host, "bad")])).toEqual(["success"]);
      await until("it to be gone", () => host.status().processes.length === 0, PATIENCE_MS);
    }
    expect(host.status()).toMatchObject({ starts: 3, crashes: 0, breaker: { state: "closed" } });
  });

  test("[HOST-4-8] calls that wait when a process dies are not harmed", async () => {
    const host = start("dies_mid_call");
    const calls = [run(host, "bad"), run(host, "echo"), run(host, "echo")];
    expect(await codes(calls)).toEqual(["outcome_unknown", "success", "success"]);
    expect((await Promise.all(calls)).map(({ attempts }) => attempts)).toEqual([1, 1, 1]);
  });

  test("[HOST-4-4] the breaker opens after the crashes, refuses at once, and an answered probe closes it", async () => {
    const limits = { breakerCrashes: 3, breakerOpenMs: 700, backoffBaseMs: 1 };
    const host = start("dies_mid_call", limits);
    for (let i = 0; i < 3; i += 1) expect(await codes([run(host, "bad")])).toEqual(["outcome_unknown"]);
    await until("the breaker to open", () => host.status().breaker.state === "open", PATIENCE_MS);
    const refused = await run(host, "echo");
    expect(refused.outcome).toMatchObject({ error: { code: "breaker_open" }, written: false });
    expect(host.status().processes).toEqual([]);
    await until("its time to be over", () => host.status().breaker.retryInMs === 0, PATIENCE_MS);
    expect(await codes(times(5, () => run(host, "echo")))).toEqual(times(5, () => "success"));
    expect(host.status().breaker).toEqual({ state: "closed", retryInMs: 0 });
  });

  test("[HOST-4-4] a probe that crashes opens it again", async () => {
    const limits = { breakerCrashes: 2, breakerOpenMs: 300, backoffBaseMs: 1 };
    const host = start("dies_mid_call", limits);
    for (let i = 0; i < 2; i += 1) await run(host, "bad");
    await until("the first opening", () => host.status().breaker.state === "open", PATIENCE_MS);
    await until("its time to be over", () => host.status().breaker.retryInMs === 0, PATIENCE_MS);
    const calls = [run(host, "bad"), run(host, "echo"), run(host, "echo")];
    expect(await codes(calls)).toEqual(["outcome_unknown", "breaker_open", "breaker_open"]);
    expect(host.status().breaker.state).toBe("open");
  });

  test("[HOST-4-3] a host that does not start in time is given up, told to every call that waited", async () => {
    const host = start("silent_at_init", { startupMs: 300, attempts: 2, backoffBaseMs: 1 });
    expect(await codes(times(3, () => run(host, "echo")))).toEqual(times(3, () => "upstream_unavailable"));
    expect(host.status().starts).toBeGreaterThanOrEqual(2);
  });
});

describe("without work", () => {
  test("[HOST-4-3] an idle process is stopped, and the next call starts one", async () => {
    const host = start("honest", { idleMs: 100 }, { extended: true });
    expect(await codes([run(host, "echo")])).toEqual(["success"]);
    await until("it to be stopped", () => host.status().processes.length === 0, PATIENCE_MS);
    expect(await codes([run(host, "echo")])).toEqual(["success"]);
    expect(host.status()).toMatchObject({ starts: 2, crashes: 0 });
  });

  test("[HOST-4-2] close fails what waits, lets what runs finish within the grace, and ends everything", async () => {
    const host = start("says_no", { graceMs: 2_000 });
    await host.start();
    const [running, waiting] = [run(host, "wait", 50), run(host, "echo")];
    const [pid = 0] = pids(host);
    await host.close();
    expect(isRunning(pid)).toBe(false);
    expect(await codes([waiting, run(host, "echo")])).toEqual(["upstream_unavailable", "upstream_unavailable"]);
    // A plain host that ends with its input may or may not have answered.
    expect(["success", "outcome_unknown"]).toContain((await codes([running]))[0]);
    await expect(host.start()).rejects.toMatchObject({ code: "upstream_unavailable" });
  });

  test("[HOST-5-4] shutdown is asked for where it was negotiated, and close does not wait for the grace then", async () => {
    // Longer than a test may take.
    const host = start("honest", { graceMs: 3_600_000 }, { extended: true });
    await host.start();
    await host.close();
    expect(host.status().processes).toEqual([]);
  });

  test("[HOST-4-2] close during a start leaves nothing", async () => {
    const host = start("silent_at_init");
    const starting = host.start().catch((error: unknown) => (error as { code?: string }).code);
    await until("its process", () => host.status().processes[0]?.pid !== undefined, PATIENCE_MS);
    await host.close();
    expect(await starting).toBe("upstream_unavailable");
    expect(findLeftoversSince(before)).toEqual([]);
  });
});

test("[HOST-4-12] a program that floods stdout from its start costs its neighbours nothing", async () => {
  const flood = openHost({
    name: "flood",
    command: ["yes"],
    cwd: "/",
    limits: { helloMs: 200, startupMs: 2_000, graceMs: 300 },
  });
  const neighbour = start("honest", {}, { extended: true });
  await neighbour.start();
  let over = false;
  const failed = flood.start().then(
    () => "started",
    (error: unknown) => String(error),
  );
  void failed.then(() => {
    over = true;
  });
  let calls = 0;
  while (!over) {
    expect((await run(neighbour, "echo")).outcome.status).toBe("success");
    calls += 1;
  }
  expect(await failed).toContain("did not start within 2000 ms");
  // A flood that held up this process would let one or two through.
  expect(calls).toBeGreaterThan(10);
});
