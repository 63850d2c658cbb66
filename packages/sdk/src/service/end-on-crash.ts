// An error that no code caught ends a service, as it ends any program of Node: what such an error leaves behind is not known. Before the
// process ends, its services say which calls ran and what became of them. A program that listens for such errors itself decides itself.

import type { ProcessPort } from "./process-signals.ts";

const FAILED = 1;

type LastWords = (thrown: unknown) => Promise<void>;

/** A process has one end, so the services in it share one listener. */
interface Desk {
  readonly speakers: Set<LastWords>;
  readonly close: () => void;
}

const DESKS = new WeakMap<ProcessPort, Desk>();

const openDesk = (port: ProcessPort): Desk => {
  const speakers = new Set<LastWords>();
  let ending = false;
  const listener = (thrown: unknown): void => {
    if (ending || port.listenerCount("uncaughtException") > 1) return;
    ending = true;
    void Promise.allSettled([...speakers].map((speak) => speak(thrown))).then(() => port.exit(FAILED));
  };
  port.on("uncaughtException", listener);
  const close = (): void => {
    port.removeListener("uncaughtException", listener);
    DESKS.delete(port);
  };
  const desk = { speakers, close };
  DESKS.set(port, desk);
  return desk;
};

/** Returns the way to stop listening. */
export const endOnCrash = (port: ProcessPort, speak: LastWords): (() => void) => {
  const { speakers, close } = DESKS.get(port) ?? openDesk(port);
  speakers.add(speak);
  return () => {
    if (speakers.delete(speak) && speakers.size === 0) close();
  };
};
