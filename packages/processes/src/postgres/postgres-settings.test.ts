import { expect, test } from "vitest";
import { planSettings, settingsToFlags } from "./postgres-settings.ts";
import { fitsSocket } from "./socket-directory.ts";

const LISTENING = { socketDir: "/s", port: 5432, loopback: false, clusterName: "toolplane-x" };

test("[ARCH-5-5] nothing turns syncing off but the option of that name", () => {
  const safe = planSettings({ maxConnections: 10, unsafeNoSync: false, extra: {} }, LISTENING);
  expect(Object.keys(safe)).not.toContain("fsync");
  expect(safe).toMatchObject({ listen_addresses: "", max_connections: "10", unix_socket_directories: "/s" });
  const unsafe = planSettings({ maxConnections: 10, unsafeNoSync: true, extra: {} }, LISTENING);
  expect(unsafe).toMatchObject({ fsync: "off" });
});

test("further settings win, and a loopback port listens on 127.0.0.1 only", () => {
  const tuning = { maxConnections: 10, unsafeNoSync: false, extra: { shared_buffers: "1GB" } };
  expect(planSettings(tuning, { ...LISTENING, loopback: true })).toMatchObject({
    shared_buffers: "1GB",
    listen_addresses: "127.0.0.1",
  });
});

test("flags come in pairs", () => {
  expect(settingsToFlags({ a: "1", b: "x y" })).toEqual(["-c", "a=1", "-c", "b=x y"]);
});

test.each([
  ["/tmp/x", true],
  [`/${"a".repeat(87)}`, true],
  [`/${"a".repeat(88)}`, false],
  [`/${"é".repeat(50)}`, false],
])("fitsSocket counts bytes: %s", (directory, expected) => {
  expect(fitsSocket(directory)).toBe(expected);
});
