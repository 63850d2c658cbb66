import { EventEmitter, getEventListeners } from "node:events";
import type { Context } from "hono";
import { expect, test } from "vitest";
import { createWaitSignals } from "./wait-signals.ts";

/** `isBehind`: its answer waits behind another one of its connection. */
const request = ({ isBehind = false } = {}) => {
  const client = new AbortController();
  const socket = new EventEmitter();
  const outgoing = Object.assign(new EventEmitter(), { socket: isBehind ? null : socket });
  const context = {
    req: { raw: { signal: client.signal } },
    env: { outgoing, incoming: { socket } },
  } as unknown as Context;
  return { client, outgoing, socket, context, ended: new AbortController() };
};

test("it ends when the client goes, when the token ends, and when the server drains", () => {
  const draining = new AbortController();
  const waitSignal = createWaitSignals(draining.signal);
  const [gone, revoked, drained] = [request(), request(), request()];
  const [first, second, third] = [gone, revoked, drained].map(({ context, ended }) =>
    waitSignal(context, ended.signal),
  );
  gone.client.abort();
  expect([first?.aborted, second?.aborted, third?.aborted]).toEqual([true, false, false]);
  revoked.ended.abort();
  expect([second?.aborted, third?.aborted]).toEqual([true, false]);
  draining.abort();
  expect(third?.aborted).toBe(true);
  const late = request();
  expect(waitSignal(late.context, late.ended.signal).aborted).toBe(true);
});

test("nothing of a request stays when its connection has the answer", () => {
  const draining = new AbortController();
  const waitSignal = createWaitSignals(draining.signal);
  const requests = Array.from({ length: 100 }, request);
  const signals = requests.map(({ context, ended }) => waitSignal(context, ended.signal));
  expect(getEventListeners(draining.signal, "abort")).toHaveLength(1);
  for (const { outgoing } of requests) outgoing.emit("close");
  expect(requests.reduce((sum, { socket }) => sum + socket.listenerCount("close"), 0)).toBe(0);
  draining.abort();
  expect(signals.filter((signal) => signal.aborted)).toEqual([]);
});

test("a request whose connection closes before its answer could begin is over", () => {
  const waitSignal = createWaitSignals(new AbortController().signal);
  const { context, ended, socket } = request({ isBehind: true });
  const signal = waitSignal(context, ended.signal);
  socket.emit("close");
  expect(signal.aborted).toBe(true);
});
