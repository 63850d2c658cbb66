import { expect, test } from "vitest";
import { createStepRoom } from "./step-room.ts";

const settle = async (): Promise<void> => {
  for (let i = 0; i < 10; i++) await Promise.resolve();
};

const visitors = (room: ReturnType<typeof createStepRoom>) => {
  const inside: string[] = [];
  const doors = new Map<string, Disposable>();
  return {
    inside,
    come: async (name: string, bytes: number): Promise<void> => {
      void room.enter(name.slice(0, 1), bytes).then((door) => {
        inside.push(name);
        doors.set(name, door);
      });
      await settle();
    },
    leave: async (name: string): Promise<void> => {
      doors.get(name)?.[Symbol.dispose]();
      // A second time changes nothing.
      doors.get(name)?.[Symbol.dispose]();
      await settle();
    },
  };
};

test("[SEC-memory-steps] heavy steps wait until there is room; small ones do not, and take their part of it", async () => {
  const room = createStepRoom(100, 10);
  const { inside, come, leave } = visitors(room);
  await come("a1", 60);
  await come("a2", 60);
  await come("a3", 10);
  expect(inside).toEqual(["a1", "a3"]);
  expect(room.held()).toBe(70);
  await leave("a1");
  expect(inside).toEqual(["a1", "a3", "a2"]);
  await leave("a2");
  await leave("a3");
  expect(room.held()).toBe(0);
});

test("a step that needs more than there is goes alone", async () => {
  const { inside, come, leave } = visitors(createStepRoom(100, 10));
  await come("a1", 20);
  await come("a2", 1_000);
  await come("a3", 20);
  expect(inside).toEqual(["a1"]);
  await leave("a1");
  expect(inside).toEqual(["a1", "a2"]);
  await leave("a2");
  expect(inside).toEqual(["a1", "a2", "a3"]);
});

test("projects take turns", async () => {
  const { inside, come, leave } = visitors(createStepRoom(100, 10));
  await come("a1", 90);
  for (const name of ["a2", "a3", "a4", "a5", "b1"]) await come(name, 90);
  for (const name of ["a1", "a2", "a3"]) await leave(name);
  expect(inside).toEqual(["a1", "a2", "a3", "b1"]);
});
