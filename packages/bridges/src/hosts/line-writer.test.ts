import { expect, test } from "vitest";
import { createLineWriter, type Outgoing } from "./line-writer.ts";

const item = (line: string): Outgoing => ({ line, written: false });
const tick = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));

const open = () => {
  const writes: { text: string; done: (error?: Error) => void }[] = [];
  const broken: string[] = [];
  let ended = false;
  const writer = createLineWriter(
    {
      write: (text, done) => {
        writes.push({ text, done });
        return true;
      },
      end: () => {
        ended = true;
      },
    },
    (error) => broken.push(error.message),
  );
  return { writes, broken, writer, isEnded: () => ended };
};

test("[HOST-6-P1] what is sent in one tick, continuations of promises included, is one write", async () => {
  const { writes, writer } = open();
  writer.send(item("a\n"));
  await Promise.resolve().then(() => writer.send(item("b\n")));
  await tick();
  expect(writes.map(({ text }) => text)).toEqual(["a\nb\n"]);
});

test("[HOST-4-L2] the next write waits until the last was taken; what waits is not written and can be taken back", async () => {
  const { writes, writer } = open();
  const [first, second, third] = [item("a\n"), item("b\n"), item("c\n")];
  writer.send(first);
  await tick();
  writer.send(second);
  writer.send(third);
  await tick();
  expect(writes).toHaveLength(1);
  expect([first.written, second.written]).toEqual([true, false]);
  expect([writer.takeBack(first), writer.takeBack(second)]).toEqual([false, true]);
  writes[0]?.done();
  expect(writes.map(({ text }) => text)).toEqual(["a\n", "c\n"]);
});

test("[HOST-4-L2] a large queue goes out in pieces", async () => {
  const { writes, writer } = open();
  const items = Array.from({ length: 10 }, () => item("x".repeat(400_000)));
  for (const each of items) writer.send(each);
  await tick();
  expect(items.filter(({ written }) => written)).toHaveLength(3);
  expect(writes[0]?.text).toHaveLength(1_200_000);
});

test("[HOST-4-8] of a failed write the last line was not written: its line feed did not arrive", async () => {
  const { writes, writer, broken } = open();
  const [first, second] = [item("a\n"), item("b\n")];
  writer.send(first);
  writer.send(second);
  await tick();
  writes[0]?.done(new Error("EPIPE"));
  expect([first.written, second.written, broken]).toEqual([true, false, ["EPIPE"]]);
  writer.send(item("c\n"));
  await tick();
  expect(writes).toHaveLength(1);
});

test("the end comes after what was sent", async () => {
  const { writes, writer, isEnded } = open();
  writer.send(item("a\n"));
  writer.end();
  expect(isEnded()).toBe(false);
  await tick();
  writes[0]?.done();
  expect(isEnded()).toBe(true);
  const idle = open();
  idle.writer.end();
  expect(idle.isEnded()).toBe(true);
});
