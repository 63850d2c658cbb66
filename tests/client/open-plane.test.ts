// The plane as a library: the same client, in the process that uses it.

import { writeFileSync } from "node:fs";
import { join } from "node:path";
import type { Log } from "@toolplane/engine";
import { defineTool, ToolError } from "@toolplane/sdk";
import type { TurnEvent } from "@toolplane/sdk/client";
import { openPlane } from "@toolplane/server";
import { createTestDatabase, eventually, findDescendants, programArgv, untilGone } from "@toolplane/testkit";
import { expect, test } from "vitest";
import { startProgram } from "../cli/program.ts";
import { makePlace } from "../up/data.ts";
import { PATIENCE_MS, startUp } from "../up/up-process.ts";

const PROGRAM = new URL("programs/own-plane.ts", import.meta.url);

const tools = [
  defineTool({
    ...{ name: "double", description: "Twice a number", retry: "safe" },
    parameters: { type: "object", properties: { n: { type: "integer" } }, required: ["n"] },
    run: async ({ n }: { n: number }) => n * 2,
  }),
  defineTool({
    ...{ name: "refuse", description: "Says no", parameters: { type: "object" } },
    run: async () => {
      throw new ToolError("tool_error", "not today");
    },
  }),
];

test("[API-6-L1] [API-6-C7] one process calls tools, serves them and runs agents, without HTTP", async () => {
  const database = await createTestDatabase({ name: "library", migrate: async () => undefined });
  await using place = await makePlace();
  const config = join(place.root, "toolplane.yaml");
  // A file for every target is also for tools that have no variable.
  writeFileSync(config, 'secrets:\n  allow_env: [KEY]\n  envs:\n    "*": { api_key: KEY }\n');
  try {
    await using plane = await openPlane({ databaseUrl: database.url, config, env: { TOOLPLANE_DEMO: "1" } });
    await plane.serve(tools);
    for (const [asked, message] of [
      [() => plane.serve(tools), expect.stringContaining("target local is served here already")],
      [() => plane.serve(tools, { target: "a b" }), expect.stringContaining("target must be made of")],
      [() => plane.serve([], { target: "none" }), expect.stringContaining("at least one tool")],
      [() => plane.serve(tools, { target: "x", concurency: 1 } as never), expect.stringContaining("concurrency?")],
    ] as const)
      await expect(asked()).rejects.toMatchObject({ name: "ToolplaneError", code: "bad_request", message });
    await expect(plane.call("double", { n: 1 }, { wait: Number.NaN })).rejects.toMatchObject({ code: "bad_request" });
    await expect(plane.call("double", { n: 1 }, { wait: -1 })).rejects.toMatchObject({ code: "bad_request" });
    expect(await Promise.all(Array.from({ length: 50 }, (_, n) => plane.call("double", { n })))).toEqual(
      Array.from({ length: 50 }, (_, n) => n * 2),
    );
    await expect(plane.call("double", { n: "x" })).rejects.toMatchObject({ code: "bad_request" });
    await expect(plane.call("refuse")).rejects.toMatchObject({ code: "tool_error", callId: expect.any(String) });
    const made = await plane.start("sleep", { seconds: 600 });
    const callId = String(made.tool_call_id);
    expect(await plane.why(callId)).toMatchObject({ tool_call_id: callId });
    expect((await plane.cancel(callId)).canceled).toBe(true);
    expect(Object.keys((await plane.tools()).ai())).toContain("double");
    const turn = plane.run("helper", "to be or not to be", { key: "said once" });
    const seen: TurnEvent[] = [];
    for await (const event of turn) seen.push(event);
    expect(new Set(seen.map(({ type }) => type))).toContain("step");
    expect(seen.at(-1)).toMatchObject({ type: "end", status: "success" });
    expect(await turn.deliverable()).toBe("You wrote 6 words, 4 of them different.");
    const again = plane.run("helper", "to be or not to be", { key: "said once" });
    const late: TurnEvent[] = [];
    for await (const event of again) late.push(event);
    expect([await again.id, late, await again.deliverable()]).toEqual([await turn.id, [], await turn.deliverable()]);
    await expect(plane.run("nobody", "do it").deliverable()).rejects.toMatchObject({ code: "not_found" });
  } finally {
    await database.drop();
  }
});

test("[API-6-L2] [API-6-L3] a program that is killed finds its call again; meanwhile its data is its own", async () => {
  await using place = await makePlace();
  const { dataDir } = place;
  const argv = [...programArgv(PROGRAM), dataDir];
  const env = { TOOLPLANE_LEASE_SECONDS: "3" };
  await using first = await startProgram(argv, { cwd: place.root, env: { ...env, HANG: "1" } });
  await first.until("the tool runs", (out) => (out.includes("running") ? true : undefined));
  const pid = first.process.child.pid ?? 0;
  const sentence = `already running: process ${pid} has opened ${dataDir}`;
  await expect(openPlane({ data: dataDir, env: {} })).rejects.toMatchObject({
    code: "conflict",
    message: sentence,
    // In the words of a program: it gives options and no flags.
    detail: { todo: "stop it first, or open another directory with data" },
  });
  await using up = startUp({ dataDir });
  expect(await up.exited).toBe(1);
  expect(up.stderr()).toContain(sentence);
  const family = findDescendants(pid);
  first.signal("SIGKILL");
  await first.ended;
  await using again = await startProgram(argv, { cwd: place.root, env });
  await again.until("the tool runs again", (out) => (out.includes("running") ? true : undefined));
  const relatives = findDescendants(again.process.child.pid ?? 0);
  expect(relatives.length).toBeGreaterThan(0);
  expect(await again.ended).toMatchObject({ code: 0 });
  expect(again.out()).toContain('result "done"');
  await untilGone([...family, ...relatives], PATIENCE_MS);
});

test("[API-6-L3] closing lets a running tool finish, says which it told to stop, and ends every door", async () => {
  const database = await createTestDatabase({ name: "library", migrate: async () => undefined });
  const said: string[] = [];
  const note = (message: string, fields?: object): void => void said.push(`${message} ${JSON.stringify(fields)}`);
  const log: Log = { info: () => {}, warn: () => {}, error: note };
  let begun = Promise.withResolvers<void>();
  let gate = Promise.withResolvers<void>();
  const stubborn = defineTool({
    ...{ name: "stubborn", description: "Ends when the test says so", parameters: { type: "object" } as const },
    run: async () => {
      begun.resolve();
      await gate.promise;
      return "done";
    },
  });
  try {
    const first = await openPlane({ databaseUrl: database.url, env: {}, log });
    await first.serve([stubborn]);
    const finished = first.call("stubborn");
    await begun.promise;
    const closed = first.close();
    gate.resolve();
    expect(await finished).toBe("done");
    await closed;
    expect(said).toEqual([]);
    await expect(first.serve([stubborn])).rejects.toMatchObject({ code: "canceled" });
    await expect(first.call("stubborn")).rejects.toMatchObject({ code: "canceled" });

    begun = Promise.withResolvers<void>();
    gate = Promise.withResolvers<void>();
    const second = await openPlane({ databaseUrl: database.url, env: {}, log });
    await second.serve([stubborn]);
    const left = second.call("stubborn").catch((error: unknown) => error);
    await begun.promise;
    await expect(second.close({ drainSeconds: -1 })).rejects.toMatchObject({ code: "bad_request" });
    await second.close({ drainSeconds: 0 });
    expect(await left).toMatchObject({ code: "outcome_unknown" });
    expect(said).toEqual([expect.stringContaining("told to stop")]);
    gate.resolve();
    await eventually(() => said.length > 1);
    expect(said[1]).toMatch(/stubborn ended after the plane was closed: .* lost/);
  } finally {
    gate.resolve();
    await database.drop();
  }
});
