// Another tenant at work, over HTTP, in a process of its own: its service claims, heartbeats and settles, its caller makes
// calls and waits for them, and somebody asks whether the server lives. Told by its environment where and as whom; when
// its stdin closes it finishes what is open and says in one line of JSON what it saw.

import { setTimeout as delay } from "node:timers/promises";

const {
  STALL_URL: url = "",
  STALL_PROJECT: project = "",
  STALL_CALLER: caller = "",
  STALL_SERVICE: service = "",
} = process.env;
const IN_FLIGHT = 4;
const WORK_MS = 1_500;
const HEARTBEAT_MS = 250;
const LOOK_MS = 20;

interface Command {
  readonly headers: Readonly<Record<string, string>>;
  readonly lease: { readonly id: string };
}

let stopping = false;
process.stdin.resume().on("end", () => {
  stopping = true;
});

const faults: string[] = [];
const seen = { calls: 0, heartbeats: 0, settled: 0, slowestCallMs: 0, slowestHeartbeatMs: 0, slowestLiveMs: 0 };
/** When an answer to /live was late, for who wants to know what caused it. */
const late: { readonly at: number; readonly ms: number }[] = [];

const ask = async <Body>(token: string, path: string, body?: object): Promise<{ status: number; body: Body }> => {
  const response = await fetch(`${url}${path}`, {
    method: body === undefined ? "GET" : "POST",
    headers: { authorization: `Bearer ${token}`, "content-type": "application/json" },
    ...(body === undefined ? {} : { body: JSON.stringify(body) }),
    signal: AbortSignal.timeout(120_000),
  });
  return { status: response.status, body: (await response.json()) as Body };
};

const timed = async <Value>(work: () => Promise<Value>): Promise<{ ms: number; value: Value }> => {
  const began = performance.now();
  const value = await work();
  return { ms: performance.now() - began, value };
};

/** A request that fails is a fault, and the tenant goes on. */
const orFault = (what: string, work: () => Promise<void>): Promise<void> =>
  work().catch((error: unknown) => void faults.push(`${what}: ${String(error)}`));

const at = `/projects/${project}`;

const run = async ({ headers, lease }: Command): Promise<void> => {
  const id = headers["CG-Tool-Call-Id"] ?? "";
  for (let worked = 0; worked < WORK_MS; worked += HEARTBEAT_MS) {
    await delay(HEARTBEAT_MS);
    const { ms, value } = await timed(() =>
      ask<{ cancel?: boolean }>(service, `${at}/calls/${id}/heartbeat`, { lease: lease.id }),
    );
    seen.heartbeats++;
    seen.slowestHeartbeatMs = Math.max(seen.slowestHeartbeatMs, ms);
    if (value.status !== 200 || value.body.cancel === true)
      faults.push(`heartbeat: ${value.status} ${JSON.stringify(value.body)}`);
  }
  const settled = await ask(service, `${at}/calls/${id}/result`, {
    lease: lease.id,
    status: "success",
    result: { done: id },
  });
  if (settled.status === 200) seen.settled++;
  else faults.push(`settle: ${settled.status} ${JSON.stringify(settled.body)}`);
};

let open = 0;
const serve = async (): Promise<void> => {
  const running = new Set<Promise<void>>();
  while (!stopping || open > 0)
    await orFault("claim", async () => {
      const path = `${at}/tool-services/test/claim`;
      const { status, body } = await ask<{ commands?: Command[] }>(service, path, { max: 8, wait_seconds: 1 });
      if (status !== 200) {
        faults.push(`claim: ${status} ${JSON.stringify(body)}`);
        await delay(100);
      }
      for (const command of body.commands ?? []) {
        const work = orFault("work", () => run(command)).finally(() => running.delete(work));
        running.add(work);
      }
    });
  await Promise.all(running);
};

const call = async (): Promise<void> => {
  open++;
  while (!stopping)
    await orFault("call", async () => {
      const asked = { tool_name: "sample", arguments: { a: "x" }, wait_seconds: 60 };
      const { ms, value } = await timed(() => ask<{ status?: string }>(caller, `${at}/calls`, asked));
      seen.calls++;
      seen.slowestCallMs = Math.max(seen.slowestCallMs, ms);
      if (value.body.status !== "success") faults.push(`call: ${value.status} ${JSON.stringify(value.body)}`);
    });
  open--;
};

const live = async (): Promise<void> => {
  while (!stopping)
    await orFault("live", async () => {
      const began = Date.now();
      const { ms } = await timed(async () => (await fetch(`${url}/live`)).text());
      seen.slowestLiveMs = Math.max(seen.slowestLiveMs, ms);
      if (ms > 50) late.push({ at: began, ms: Math.round(ms) });
      await delay(LOOK_MS);
    });
};

await Promise.all([serve(), live(), ...Array.from({ length: IN_FLIGHT }, call)]);
process.stdout.write(`${JSON.stringify({ ...seen, faults, late })}\n`);
