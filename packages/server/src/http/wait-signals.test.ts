import { EventEmitter, getEventListeners } from "node:events";
import type { Context } from "hono";
import { expect, test } from "vitest";
import { createWaitSignals } from "./wait-signals.ts";

const request = () => {
  const client = new AbortController();
  const outgoing = new EventEmitter();
  const context = { req: { raw: { signal: client.signal } }, env: { outgoing } } as unknown as Context;
  return { client, outgoing, context, ended: new AbortController() };
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
  draining.abort();
  expect(signals.filter((signal) => signal.aborted)).toEqual([]);
});
