import { expect, test } from "vitest";
import { createLoginThrottle } from "./login-throttle.ts";

test("[SEC-11-L3] twenty failures of one address close its logins for a minute, and no other's", () => {
  let now = 0;
  const throttle = createLoginThrottle({ now: () => now });
  for (let tried = 0; tried < 20; tried++) {
    expect(() => throttle.check("a")).not.toThrow();
    throttle.failed("a");
  }
  expect(() => throttle.check("a")).toThrow("too many logins failed");
  expect(() => throttle.check("b")).not.toThrow();
  now = 60_000;
  expect(() => throttle.check("a")).not.toThrow();
});

test("[SEC-11-L3] the audit gets sixty failures a minute, however many addresses try", () => {
  let now = 0;
  const throttle = createLoginThrottle({ now: () => now });
  const audited = (): number =>
    Array.from({ length: 100 }, (_, index) => throttle.failed(`address ${index}`)).filter(Boolean).length;
  expect(audited()).toBe(60);
  now = 60_000;
  expect(audited()).toBe(60);
});
