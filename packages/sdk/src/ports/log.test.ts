import { expect, test } from "vitest";
import { createLineLog, withFields } from "./log.ts";

test("one entry is one line, whatever it is made of", () => {
  const lines: string[] = [];
  const log = withFields(
    createLineLog((line) => lines.push(line)),
    { call: "c1" },
  );
  const cycle: Record<string, unknown> = {};
  cycle.self = cycle;
  log.info("a\nb\r\nc", { text: "x\ny", n: 3, none: undefined, cycle, call: "c2" });
  log.warn("w");
  log.error("e", { f: () => 1 });
  expect(lines).toEqual([
    'toolplane info: a b  c call="c2" text="x\\ny" n=3 cycle=?\n',
    'toolplane warn: w call="c1"\n',
    'toolplane error: e call="c1" f=() => 1\n',
  ]);
});
