import { EventEmitter } from "node:events";
import { afterEach, beforeEach, describe, expect, test, vi } from "vitest";
import { listenForStop } from "./stop-signals.ts";

const UNDER_NPM = { npm_lifecycle_event: "start" };
const UNDER_NPX = { npm_lifecycle_event: "npx" };

const listen = (env: Record<string, string>) => {
  const source = Object.assign(new EventEmitter(), { env, ppid: 7 });
  let heard = 0;
  const forget = listenForStop(source, () => {
    heard += 1;
  });
  return { source, forget, heard: () => heard };
};

beforeEach(() => void vi.useFakeTimers({ toFake: ["setInterval", "clearInterval", "performance"] }));
afterEach(() => void vi.useRealTimers());

test.each([
  ["every SIGTERM and SIGINT counts", {}, ["SIGTERM", "SIGTERM", "SIGINT"], 3],
  ["a terminal that closes says SIGHUP several times and means one", {}, ["SIGHUP", "SIGHUP"], 1],
  ["SIGHUP after another signal adds nothing", {}, ["SIGTERM", "SIGHUP"], 1],
  ["after SIGHUP a signal is the second request", {}, ["SIGHUP", "SIGTERM"], 2],
  ["npm repeats what the terminal sent to the whole group", UNDER_NPM, ["SIGINT", "SIGINT"], 1],
  ["under npm another signal is not a repetition", UNDER_NPM, ["SIGINT", "SIGTERM"], 2],
])("%s", (_what, env, signals, expected) => {
  const { source, heard } = listen(env);
  for (const name of signals) source.emit(name, name);
  expect(heard()).toBe(expected);
});

test("under npm a later signal of the same name is a second request", () => {
  const { source, heard } = listen(UNDER_NPM);
  source.emit("SIGINT", "SIGINT");
  vi.advanceTimersByTime(1_001);
  source.emit("SIGINT", "SIGINT");
  expect(heard()).toBe(2);
});

describe("the shell that npx started us through", () => {
  test("hands no signal on: its death is one", () => {
    const { source, heard } = listen(UNDER_NPX);
    vi.advanceTimersByTime(5_000);
    expect(heard()).toBe(0);
    source.ppid = 1;
    vi.advanceTimersByTime(5_000);
    expect(heard()).toBe(1);
  });

  test("that dies of the same signal adds nothing", () => {
    const { source, heard } = listen(UNDER_NPX);
    source.emit("SIGTERM", "SIGTERM");
    source.ppid = 1;
    vi.advanceTimersByTime(5_000);
    expect(heard()).toBe(1);
  });

  test("is not watched elsewhere: a shell may leave what it started in the background", () => {
    const { source, heard } = listen(UNDER_NPM);
    source.ppid = 1;
    vi.advanceTimersByTime(5_000);
    expect(heard()).toBe(0);
  });
});

test("who forgets hears nothing more", () => {
  const { source, forget, heard } = listen(UNDER_NPX);
  forget();
  source.ppid = 1;
  vi.advanceTimersByTime(5_000);
  for (const name of ["SIGTERM", "SIGINT", "SIGHUP"]) expect(source.listenerCount(name)).toBe(0);
  expect(heard()).toBe(0);
});
