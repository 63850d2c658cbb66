import type { Log } from "@toolplane/engine";
import { expect, test } from "vitest";
import { createFailureLog } from "./failure-log.ts";

const listen = () => {
  const lines: unknown[] = [];
  const write =
    (level: string): Log["info"] =>
    (message, fields) =>
      void lines.push([level, message, fields]);
  let now = 0;
  const log = { info: write("info"), warn: write("warn"), error: write("error") };
  const failures = createFailureLog(log, { now: () => now });
  return {
    lines,
    failures,
    pass: (ms: number) => {
      now += ms;
      return now;
    },
  };
};

const away = { path: "/projects/p/calls", method: "GET", code: "storage_error", cause: "Error: no" } as const;
const begin = ["error", expect.stringContaining("requests fail because the database does not answer"), away];

test("[UP-5-7] an outage of the database is said when it begins and when it is over, with a count", () => {
  const { lines, failures, pass } = listen();
  const before = pass(0);
  for (let count = 0; count < 500; count += 1) {
    pass(10);
    failures.failed(away);
  }
  // What began before or in the middle of it says nothing about now.
  failures.answered(before);
  failures.answered(pass(500));
  failures.failed(away);
  expect(lines).toEqual([begin]);
  failures.answered(pass(1_000));
  failures.answered(pass(1_000));
  expect(lines).toEqual([begin, ["info", "requests are answered again", { failed: 501, seconds: 5.5 }]]);
  failures.failed(away);
  expect(lines).toHaveLength(3);
});

test("what is not the database's is said each time", () => {
  const { lines, failures } = listen();
  const bug = { ...away, code: "internal_error" } as const;
  for (let count = 0; count < 3; count += 1) failures.failed(bug);
  expect(lines).toEqual(Array.from({ length: 3 }, () => ["error", "a request failed", bug]));
});
