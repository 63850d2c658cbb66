// examples/nats-python: tool services with nothing but a socket and the text protocol of NATS, against a real plane.

import { startNats } from "@toolplane/testkit";
import { afterAll, beforeAll, expect, test } from "vitest";
import { type Program, runProgram, startProgram } from "../cli/program.ts";
import { ROOT } from "../cli/stack.ts";
import { connectWire } from "../gateway/wire-client.ts";
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

test("[NATSPY-8] a command that says for no agent is not run, leased or plain, and a log line says so", async () => {
  await using client = await connectWire({ port: Number(new URL(world.nats.url).port) });
  for (const [program, target] of [
    [leased, "letters"],
    [plain, "letters_plain"],
  ] as const) {
    const subject = `cg.v1r4.${world.test.projectId}.public.cmd.tool.${target}.count`;
    const said = JSON.stringify({ tool_call_card_id: "c", tool_name: `count_${target}`, after_execution: "suspend" });
    const calls = [`${target}-none`, `${target}-blank`];
    for (const call of calls) {
      const agent = call.endsWith("blank") ? { "CG-Agent-Id": " " } : {};
      client.publish(subject, said, { headers: { "CG-Tool-Call-Id": call, "CG-Turn-Id": "t", ...agent } });
    }
    const lines = calls.map((call) => `call ${call} is dropped: CG-Agent-Id is missing`);
    await program.until("both lines", (_, err) => (lines.every((line) => err.includes(line)) ? true : undefined));
    expect(calls.filter((call) => program.err().includes(`call ${call}: `))).toEqual([]);
  }
  await expect.poll(() => world.waitingCommands("letters")).toBe(0);
});

test("[NATSPY-9] what a plain service refuses to run is a failed result of bad_request", async () => {
  const program = `
import json, threading
from types import SimpleNamespace
from gateway import Command
from service import outcome_of
good = {"tool_call_card_id": "c", "tool_name": "t", "after_execution": "suspend"}
base = {"CG-Agent-Id": "a", "CG-Turn-Id": "t", "CG-Tool-Call-Id": "k"}
def code(headers={}, card=None, **payload):
    data = json.dumps({**good, **payload}).encode()
    message = SimpleNamespace(subject="cg.v1r4.demo.public.cmd.tool.t.x", headers={**base, **headers}, data=data)
    return outcome_of(Command(message), card, threading.Event())["error"]["code"]
print(json.dumps([
    code({"CG-Project-Id": "other"}), code({"CG-Channel-Id": "other"}), code({"CG-Turn-Epoch": "x"}),
    code({"CG-Recursion-Depth": "-1"}), code({"traceparent": "x"}), code(args={}), code(agent_id="boss"),
    code(tool_name=" "), code(tool_name=None), code(after_execution="continue"), code(card={"card_id": "c", "type": "task"}),
]))`;
  const { out, err } = await runProgram(["python3", "-c", program], { cwd: `${ROOT}/examples/nats-python` });
  expect(new Set(JSON.parse(out || JSON.stringify(err)) as readonly string[])).toEqual(new Set(["bad_request"]));
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
  // Long enough that a slow look still sees it running.
  const last = await world.dispatch("count_letters", { ...HELLO, seconds: 4 });
  await world.until(last, "running");
  leased.signal("SIGTERM");
  expect(await world.until(last, "success")).toMatchObject({ attempts: 1 });
  expect((await leased.ended).code).toBe(0);
});

test("[NATSPY-1] SIGTERM ends it, whichever of its threads the system gives the signal to", async () => {
  const env = { TOOLPLANE_NATS_URL: world.nats.url, TOOLPLANE_PROJECT: world.test.projectId };
  // A thread signals itself once the main thread waits for the end.
  const program = `
import signal, sys, threading, time
import service
sys.argv = ["service.py", "--plain", "--no-register"]
main = threading.main_thread().ident
def waits():
    frame = sys._current_frames()[main]
    return frame.f_code.co_name == "wait" and signal.getsignal(signal.SIGTERM) is not signal.SIG_DFL
def signal_itself():
    while not waits():
        time.sleep(0.01)
    signal.pthread_kill(threading.get_ident(), signal.SIGTERM)
threading.Thread(target=signal_itself, daemon=True).start()
service.main()`;
  const cwd = `${ROOT}/examples/nats-python`;
  await using told = await startProgram(["python3", "-c", program], { cwd, env });
  expect((await told.ended).code).toBe(0);
});

test("[NATSPY-1] SIGTERM ends it at once while it looks for a plane", async () => {
  await using empty = await startNats();
  const env = { TOOLPLANE_NATS_URL: empty.url, TOOLPLANE_PROJECT: "demo" };
  await using early = await startProgram(["python3", "examples/nats-python/service.py"], { cwd: ROOT, env });
  await early.until("its word", (_, err) => (err.includes("register") ? true : undefined));
  early.signal("SIGTERM");
  expect((await early.ended).code).not.toBe(0);
});
