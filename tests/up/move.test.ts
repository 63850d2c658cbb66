// A plane that moves: the same database without NATS, with it, and without it again. What waited goes on, and a reader of
// events goes on where it was.

import { expect, test, vi } from "vitest";
import { openPlane } from "./plane.ts";
import { startUp, type UpProcess } from "./up-process.ts";

vi.setConfig({ testTimeout: 180_000 });

const CALLS = 10;

const post = async (up: UpProcess, path: string, body: unknown) =>
  (await up.request("POST", `/projects/demo${path}`, body)).body;
const get = async (up: UpProcess, path: string) => (await up.request("GET", `/projects/demo${path}`)).body;

/** Makes calls that nobody serves yet, and a turn that needs a worker. */
const leaveWork = async (up: UpProcess): Promise<{ readonly calls: readonly string[]; readonly turn: string }> => {
  const items = Array.from({ length: CALLS }, (_, n) => ({ tool_name: "echo", arguments: { n } }));
  const { items: made } = await post(up, "/calls/batch", items);
  const { agent_turn_id: turn } = await post(up, "/agents/helper/turns", { instruction: "a team for this" });
  return { calls: made.map(({ tool_call_id: id }) => id), turn };
};

const expectDone = async (up: UpProcess, { calls, turn }: Awaited<ReturnType<typeof leaveWork>>): Promise<void> => {
  for (const id of calls) expect(await get(up, `/calls/${id}?wait_seconds=60`)).toMatchObject({ status: "success" });
  expect(await get(up, `/turns/${turn}?wait_seconds=60`)).toMatchObject({ status: "success" });
};

/** The ids of the calls whose results the event stream tells of, read from a position until all wanted are there. */
const readResults = async (up: UpProcess, token: string, after: string, wanted: readonly string[]) => {
  const leaving = new AbortController();
  const response = await fetch(`${await up.ready()}/projects/demo/events`, {
    headers: { authorization: `Bearer ${token}`, "last-event-id": after },
    signal: leaving.signal,
  });
  const missing = new Set(wanted);
  let last = after;
  let text = "";
  for await (const chunk of response.body ?? []) {
    text += Buffer.from(chunk).toString();
    const blocks = text.split("\n\n");
    text = blocks.pop() ?? "";
    for (const block of blocks) {
      last = block.match(/^id: (.*)$/m)?.[1] ?? last;
      for (const id of missing) if (block.includes(id)) missing.delete(id);
    }
    if (missing.size === 0) break;
  }
  leaving.abort();
  return last;
};

test("[UP-9-10] a plane moves to NATS and back: what waited goes on, and Last-Event-ID goes on where it was", async () => {
  await using plane = await openPlane("nats");
  const alone = ["--database-url", plane.databaseUrl];
  const both = [...alone, "--nats-url", plane.nats?.url ?? ""];
  const start = (args: readonly string[]): UpProcess => startUp({ dataDir: `${plane.root}/data`, args });
  let work: Awaited<ReturnType<typeof leaveWork>>;
  {
    await using first = start([...alone, "--demo", "--roles", "api,pmo"]);
    await first.ready();
    work = await leaveWork(first);
    await first.killGroup();
  }
  let position = "0";
  {
    await using second = start(both);
    await second.ready();
    await expectDone(second, work);
    const token = (await second.request("POST", "/tokens", { role: "viewer", project_id: "demo" })).body.token;
    position = await readResults(second, token, position, work.calls);
    await using stranger = start([...alone, "--roles", "api"]);
    await stranger.ready();
    expect(stranger.stderr()).toContain("a process over the same database uses another bus");
    expect(await Promise.all([stranger.stop(), second.stop()])).toEqual([0, 0]);
  }
  {
    await using third = start([...both, "--roles", "api"]);
    await third.ready();
    work = await leaveWork(third);
    await third.killGroup();
  }
  await using last = start(alone);
  await last.ready();
  await expectDone(last, work);
  const token = (await last.request("POST", "/tokens", { role: "viewer", project_id: "demo" })).body.token;
  await readResults(last, token, position, work.calls);
  expect(await last.stop()).toBe(0);
});
