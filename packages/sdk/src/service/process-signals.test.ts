import { EventEmitter } from "node:events";
import { describe, expect, test } from "vitest";
import { settle } from "../../test/manual-clock.ts";
import { stopOnSignals } from "./process-signals.ts";

const createProcess = () => {
  const emitter = new EventEmitter();
  const exits: number[] = [];
  return Object.assign(emitter, { exits, exit: (code: number) => void exits.push(code) });
};

describe("stopOnSignals", () => {
  test.each(["SIGTERM", "SIGINT"] as const)("[ARCH-7-S3] %s drains, then the process ends with 0", async (signal) => {
    const port = createProcess();
    let drained: () => void = () => {};
    let stops = 0;
    stopOnSignals(port, () => {
      stops += 1;
      return new Promise((resolve) => {
        drained = resolve;
      });
    });
    port.emit(signal);
    expect(stops).toBe(1);
    expect(port.exits).toEqual([]);
    // No handler is left for a second signal, so the system ends the process.
    expect(port.listenerCount("SIGTERM") + port.listenerCount("SIGINT")).toBe(0);
    drained();
    await settle();
    expect(port.exits).toEqual([0]);
  });

  test("[ARCH-7-S3] where somebody else listens too, ending the process is theirs", async () => {
    const port = createProcess();
    port.on("SIGTERM", () => {});
    stopOnSignals(port, async () => {});
    port.emit("SIGTERM");
    await settle();
    expect(port.exits).toEqual([]);
  });

  test("a service that stopped by itself listens no more", () => {
    const port = createProcess();
    stopOnSignals(port, async () => {})();
    expect(port.listenerCount("SIGTERM") + port.listenerCount("SIGINT")).toBe(0);
  });
});
