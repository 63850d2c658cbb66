// examples/nats-python: tool services with nothing but a socket and the text protocol of NATS, against a real plane.

import { startNats } from "@toolplane/testkit";
import { afterAll, beforeAll, expect, test } from "vitest";
import { type Program, startProgram } from "../cli/program.ts";
import { ROOT } from "../cli/stack.ts";
import { openWorld, type World } from "../sdk-nats/world.ts";
import { requirePython } from "./programs.ts";

/** Short, so that a call of three seconds needs heartbeats. */
const LEASE_SECONDS = 2;

let world: World;
let leased: Program;
let plain: Program;

const serve = async (...args: readonly string[]): Promise<Program> => {
  const env = { TOOLPLANE_NATS_URL: world.nats.url, TOOLPLANE_PROJECT: world.test.projectId };
  const program = await startProgram(["python3", "examples/nats-python/service.py", ...args], { cwd: ROOT, env });
  await program.until("serving", (_, err) => (err.includes("serving ") ? true : undefined));
  return program;
};

beforeAll(async () => {
  requirePython();
  world = await openWorld({ leaseSeconds: LEASE_SECONDS });
  [leased, plain] = await Promise.all([serve(), serve("--plain")]);
});
afterAll(async () => {
  await Promise.all([leased[Symbol.asyncDispose](), plain[Symbol.asyncDispose]()]);
  await world[Symbol.asyncDispose]();
});

const HELLO = { text: "Hello, world" };
const COUNTED = { letters: 10, different: 7 };

test("[NATSPY-1] it registers, leases a call, settles it, and leaves no command behind", async () => {
  const view = await world.call("count_letters", HELLO);
  expect(view).toMatchObject({ status: "success", attempts: 1, settledBy: "tool.letters" });
  expect(await world.resultOf(view)).toEqual(COUNTED);
  await expect.poll(() => world.waitingCommands("letters")).toBe(0);
});

test("[NATSPY-2] plain, it listens on the subject, writes its own result card and reports it", async () => {
  const view = await world.call("count_letters_plain", HELLO);
  expect(view).toMatchObject({ status: "success", settledBy: "tool.letters_plain" });
  expect(await world.resultOf(view)).toEqual(COUNTED);
  const [card] = await world.engine.cards.getCards(world.test.projectId, [view.resultCardId ?? ""]);
  expect(card).toMatchObject({ author_id: "tool.letters_plain", metadata: { function_name: "count_letters_plain" } });
});

test("[NATSPY-3] a call that takes longer than a lease is kept by heartbeats", async () => {
  const view = await world.call("count_letters", { ...HELLO, seconds: LEASE_SECONDS + 1 });
  expect(view).toMatchObject({ status: "success", attempts: 1 });
});

test("[NATSPY-4] a canceled call ends the work, reports nothing, and the next call runs", async () => {
  const toolCallId = await world.dispatch("count_letters", { ...HELLO, seconds: 600 });
  await world.until(toolCallId, "running");
  await world.engine.calls.cancel({ projectId: world.test.projectId, toolCallId });
  await leased.until("its word", (_, err) =>
    err.includes(`call ${toolCallId} is over: nothing to report`) ? true : undefined,
  );
  expect(await world.call("count_letters", HELLO)).toMatchObject({ status: "success" });
});

test("[NATSPY-5] NATS is restarted: both find it again, and what was called meanwhile is answered", async () => {
  await world.nats.kill();
  const waiting = await world.dispatch("count_letters", HELLO);
  await world.nats.restart();
  expect(await world.until(waiting, "success")).toMatchObject({ attempts: 1 });
  await plain.until("a connection", (_, err) => (err.includes("connected to NATS again") ? true : undefined));
  expect(await world.call("count_letters_plain", HELLO)).toMatchObject({ status: "success" });
});

test("[NATSPY-1] SIGTERM lets a call finish, and the service ends well", async () => {
  const last = await world.dispatch("count_letters", { ...HELLO, seconds: 1 });
  await world.until(last, "running");
  leased.signal("SIGTERM");
  expect(await world.until(last, "success")).toMatchObject({ attempts: 1 });
  expect((await leased.ended).code).toBe(0);
});

test("[NATSPY-1] SIGTERM ends it at once while it looks for a plane", async () => {
  await using empty = await startNats();
  const env = { TOOLPLANE_NATS_URL: empty.url, TOOLPLANE_PROJECT: "demo" };
  await using early = await startProgram(["python3", "examples/nats-python/service.py"], { cwd: ROOT, env });
  await early.until("its word", (_, err) => (err.includes("register") ? true : undefined));
  early.signal("SIGTERM");
  expect((await early.ended).code).not.toBe(0);
});
