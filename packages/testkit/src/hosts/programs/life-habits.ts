// Hosts that live or die wrongly, and hosts that write too much or read too little.

import { spawn } from "node:child_process";
import { closeSync } from "node:fs";
import { answer, answerLine, type Habit, type HostCall, part, raw } from "./host-side.ts";

/** A grandchild that has our pipes and ignores SIGTERM; `then` is what it does after a while. It outlasts every test, not the day. */
const forkStubborn = (then: string, detached = false): void => {
  const code = `process.on("SIGTERM", () => undefined); setTimeout(() => { ${then} }, 700); setTimeout(() => process.exit(), 120_000);`;
  spawn(process.execPath, ["-e", code], { stdio: ["ignore", "inherit", "inherit"], detached });
};

const KILOBYTE = "y".repeat(1_000);

const flood = (call: HostCall, count: number): void => {
  let batch = "";
  for (let i = 0; i < count; i += 1) {
    batch += part(call.id, { i, text: KILOBYTE });
    if (batch.length < 64_000) continue;
    raw(batch);
    batch = "";
  }
  raw(batch);
};

export const LIFE_HABITS = {
  never_answers: { bad: () => undefined },
  ignores_sigterm: {
    init: (call) => {
      process.on("SIGTERM", () => undefined);
      raw(answerLine(call.id, {}, {}));
    },
    bad: () => undefined,
  },
  ignores_cancel: { deafToCancel: true, bad: () => undefined },
  /** Its event loop is blocked: no cancel, no ping, no other call. */
  blocks: {
    bad: () => {
      for (;;) Math.random();
    },
  },
  dies_mid_call: { bad: () => process.exit(3) },
  dies_at_init: { init: () => process.exit(4), bad: () => undefined },
  refuses_init: {
    init: (call) =>
      raw(`${JSON.stringify({ v: 1, id: call.id, ok: false, error: { type: "KeyError", detail: "no key" } })}\n`),
    bad: () => undefined,
  },
  dies_at_hello: { hello: () => process.exit(5), bad: (call) => answer(call, "fine") },
  silent_on_hello: { hello: () => undefined, bad: (call) => answer(call, "fine") },
  silent_at_init: { init: () => undefined, bad: () => undefined },
  closes_stdout: {
    bad: () => {
      closeSync(1);
      setInterval(() => undefined, 1_000);
    },
  },
  closes_stdin: {
    bad: (call) => {
      process.stdin.destroy();
      closeSync(0);
      setInterval(() => undefined, 1_000);
      answer(call, "fine");
    },
  },
  answer_after_exit: {
    bad: (call) => {
      const late = JSON.stringify(answerLine(call.id, { success: true, result: "too late" }));
      forkStubborn(`process.stdout.write(${late})`);
      setTimeout(() => process.exit(0), 100);
    },
  },
  forks_grandchild: {
    bad: (call) => {
      forkStubborn("");
      answer(call, "fine");
    },
  },
  forks_daemon: {
    bad: (call) => {
      forkStubborn("", true);
      answer(call, "fine");
    },
  },
  floods_events: {
    bad: (call) => {
      flood(call, 60_000);
      answer(call, "fine");
    },
  },
  floods_stderr: {
    bad: (call) => {
      const text = `${KILOBYTE}\n`.repeat(64);
      // Its own process, so that the answer is not behind the flood.
      const code = `const { writeSync } = require("node:fs"); for (;;) try { writeSync(2, ${JSON.stringify(text)}) } catch (e) { if (e.code !== "EAGAIN") process.exit() }`;
      spawn(process.execPath, ["-e", code], { stdio: ["ignore", "ignore", "inherit"] });
      setTimeout(() => answer(call, "fine"), 300);
    },
  },
  slow_reader: {
    init: (call) => {
      raw(answerLine(call.id, {}, {}));
      // Reads what describes it, then no more.
      setTimeout(() => process.stdin.pause(), 200);
      setInterval(() => undefined, 1_000);
    },
    bad: () => undefined,
  },
} as const satisfies Record<string, Habit>;
