import { expect, test } from "vitest";
import { findOtherBus, nameProcess, tryParseProcess } from "./plane-processes.ts";

const SELF = { pid: 4711, host: "box", roles: ["api", "tools"], bus: "nats" } as const;

test("[UP-9-8] a process names its connections after its roles, and is read from them", () => {
  expect(nameProcess(SELF)).toBe("toolplane runs api,tools nats 4711 box");
  expect(tryParseProcess(nameProcess(SELF))).toEqual(SELF);
});

test("[UP-9-8] a long host name is cut where PostgreSQL cuts it; the rest is still known", () => {
  const host = "h".repeat(100);
  const name = nameProcess({ ...SELF, host });
  expect(name).toHaveLength(63);
  expect(tryParseProcess(name)).toMatchObject({ pid: 4711, roles: ["api", "tools"] });
});

test.each(["toolplane", "toolplane migrate", "psql", "toolplane runs ", "toolplane runs king nats 1 box"])(
  "[UP-9-8] %j is not one of ours",
  (name) => {
    expect(tryParseProcess(name)).toBeUndefined();
  },
);

test("[UP-9-8] a process whose messages travel elsewhere is found", () => {
  const other = { ...SELF, pid: 1, bus: "postgres" } as const;
  expect(findOtherBus(SELF, [SELF, other])).toEqual(other);
  expect(findOtherBus(SELF, [SELF])).toBeUndefined();
  expect(findOtherBus(SELF, undefined)).toBeUndefined();
});
