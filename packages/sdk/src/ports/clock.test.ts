import { expect, test } from "vitest";
import { systemClock } from "./clock.ts";

test("a sleep ends by itself, or at once when its signal aborts", async () => {
  await systemClock.sleep(1);
  const given = new AbortController();
  const long = systemClock.sleep(1e12, given.signal);
  given.abort();
  await long;
  await systemClock.sleep(1e12, given.signal);
  expect(systemClock.now()).toBeGreaterThan(1_700_000_000_000);
});
