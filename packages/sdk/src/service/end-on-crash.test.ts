import { EventEmitter } from "node:events";
import { describe, expect, test } from "vitest";
import { settle } from "../../test/manual-clock.ts";
import { endOnCrash } from "./end-on-crash.ts";

const createProcess = () => {
  const exits: number[] = [];
  return Object.assign(new EventEmitter(), { exits, exit: (code: number) => void exits.push(code) });
};

describe("[SEE-18] an error that no code caught", () => {
  test("ends the process when every service has said its last words, once", async () => {
    const port = createProcess();
    const said: string[] = [];
    const slow = Promise.withResolvers<void>();
    endOnCrash(port, async (thrown) => void said.push(`a ${String(thrown)}`));
    endOnCrash(port, (thrown) => {
      said.push(`b ${String(thrown)}`);
      return slow.promise;
    });
    port.emit("uncaughtException", "boom");
    port.emit("uncaughtException", "again");
    await settle();
    expect([said, port.exits]).toEqual([["a boom", "b boom"], []]);
    slow.reject(new RangeError("no"));
    await settle();
    expect(port.exits).toEqual([1]);
  });

  test("is left to a program that listens for it", async () => {
    const port = createProcess();
    port.on("uncaughtException", () => {});
    const said: unknown[] = [];
    endOnCrash(port, async (thrown) => void said.push(thrown));
    port.emit("uncaughtException", "boom");
    await settle();
    expect([said, port.exits]).toEqual([[], []]);
  });

  test("is Node's own again when the last service has stopped", () => {
    const port = createProcess();
    const forget = [endOnCrash(port, async () => {}), endOnCrash(port, async () => {})];
    forget[0]?.();
    expect(port.listenerCount("uncaughtException")).toBe(1);
    forget[1]?.();
    forget[1]?.();
    expect(port.listenerCount("uncaughtException")).toBe(0);
  });
});
