import { codeOf } from "@toolplane/testkit";
import { expect, test } from "vitest";
import { createLoginThrottle, type LoginThrottle } from "./login-throttle.ts";

const fail = (throttle: LoginThrottle, address: string): boolean => {
  using counted = throttle.begin(address);
  return counted.failed();
};

const isOpen = async (throttle: LoginThrottle, address: string): Promise<boolean> =>
  (await codeOf((async () => throttle.begin(address)[Symbol.dispose]())())) === "no error";

test("[SEC-11-L3] of many logins that begin together, twenty of one address are looked up, and no other address waits", async () => {
  const throttle = createLoginThrottle({ now: () => 0 });
  const begun = Array.from({ length: 20 }, () => throttle.begin("a"));
  expect(await isOpen(throttle, "a")).toBe(false);
  expect(await isOpen(throttle, "b")).toBe(true);
  for (const counted of begun) counted[Symbol.dispose]();
  expect(await isOpen(throttle, "a")).toBe(true);
});

test("[SEC-11-L3] after twenty failures the logins of an address are looked up one at a time, for a minute", async () => {
  let now = 0;
  const throttle = createLoginThrottle({ now: () => now });
  for (let tried = 0; tried < 20; tried++) fail(throttle, "a");
  expect(await isOpen(throttle, "a")).toBe(true);
  using counted = throttle.begin("a");
  expect(() => throttle.begin("a")).toThrow("try again in 1 second");
  expect(await isOpen(throttle, "b")).toBe(true);
  now = 60_000;
  expect(await isOpen(throttle, "a")).toBe(true);
  expect(counted.failed()).toBe(true);
});

test("[SEC-11-L3] the audit gets sixty failures a minute, however many addresses try", () => {
  let now = 0;
  const throttle = createLoginThrottle({ now: () => now });
  const audited = (): number =>
    Array.from({ length: 100 }, (_, index) => fail(throttle, `address ${index}`)).filter(Boolean).length;
  expect(audited()).toBe(60);
  now = 60_000;
  expect(audited()).toBe(60);
});
