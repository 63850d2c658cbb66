// A flood on stdout, with time and pipe in hand.

import { expect, test } from "vitest";
import { createBorder } from "./border.ts";
import { createHostConnection } from "./host-connection.ts";
import { createOutputBrake, type OutputBrake } from "./output-brake.ts";

/** So slow that a chunk is a flood. */
const createWorld = (msPerLine = 0.1) => {
  let now = 0;
  let timer: { readonly at: number; readonly run: () => void } | undefined;
  let paused = false;
  let waiting: Buffer = Buffer.alloc(0);
  let wasted = 0;
  let lines = 0;
  const connection = createHostConnection({
    stdin: { write: () => true, end: () => undefined } as never,
    lineBytes: 1_024,
    pid: 1,
    onBroken: () => undefined,
    border: createBorder(new Map()),
    diagnostics: {
      report: () => {
        wasted += 1;
      },
    },
  });
  const stream = {
    pause: () => {
      paused = true;
    },
    resume: () => {
      paused = false;
    },
    unshift: (chunk: Buffer) => {
      waiting = chunk;
    },
  };
  const brake: OutputBrake = createOutputBrake({
    stream: stream as never,
    timers: {
      now: () => now,
      after: () => () => undefined,
      afterQuietly: (ms, run) => {
        timer = { at: now + ms, run };
        return () => undefined;
      },
    },
    take: (chunk) => {
      connection.push(chunk);
      now += (connection.linesRead() - lines) * msPerLine;
      lines = connection.linesRead();
    },
    wasted: () => wasted,
  });
  return {
    brake,
    paused: () => paused,
    lines: () => lines,
    waiting: () => waiting.length,
    /** What a stream does when it flows again. */
    nextSecond: () => {
      now = timer?.at ?? now + 1_000;
      timer?.run();
      const rest = waiting;
      waiting = Buffer.alloc(0);
      if (rest.length > 0) brake.push(rest);
    },
  };
};

const FLOOD = Buffer.from("y\n".repeat(32_768));

test("[HOST-4-12] a host that floods stdout is read for a part of each second, and waits", () => {
  const world = createWorld();
  world.brake.push(FLOOD);
  world.brake.push(FLOOD);
  for (let second = 0; second < 5; second += 1) {
    const before = world.lines();
    expect([world.paused(), world.waiting() > 0]).toEqual([true, true]);
    world.nextSecond();
    expect(world.lines() - before).toBeGreaterThan(0);
    expect(world.lines() - before).toBeLessThan(3_000);
  }
});

test("[HOST-4-12] one that stops flooding is read as before", () => {
  const world = createWorld();
  world.brake.push(FLOOD);
  world.nextSecond();
  world.brake.push(Buffer.from("one line\n"));
  world.nextSecond();
  world.nextSecond();
  world.brake.push(Buffer.from("y\n".repeat(1_000)));
  expect([world.paused(), world.waiting()]).toEqual([false, 0]);
});

test("[HOST-4-12] the last words of a process are read whatever it wrote before", () => {
  const world = createWorld();
  world.brake.push(FLOOD);
  const before = world.lines();
  world.brake.release();
  expect(world.paused()).toBe(false);
  world.brake.push(FLOOD);
  expect([world.lines() - before, world.paused()]).toEqual([32_768, false]);
});

test("[HOST-4-12] a tool that prints a hundred thousand lines is not slowed down where reading them takes no time", () => {
  const world = createWorld(0.000_5);
  for (let chunk = 0; chunk < 4; chunk += 1) world.brake.push(FLOOD);
  expect([world.lines(), world.paused()]).toEqual([4 * 32_768, false]);
});
