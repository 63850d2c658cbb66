import { expect, test } from "vitest";
import { planRedirect } from "./plan-redirect.ts";

const hop = (url: string) => ({ url: new URL(url), method: "GET", headers: new Map(), body: undefined });

test.each(["http://a.example/", "http://a.example:443/", "http://b.example/"])(
  "[SEC-6-5] from https to %s is refused",
  (location) => {
    expect(() => planRedirect(hop("https://a.example/"), 302, location)).toThrow(
      expect.objectContaining({ code: "auth_failed", message: expect.stringContaining("plain http") }),
    );
  },
);

test.each([
  ["/x", "https://a.example/x"],
  ["//b.example/x", "https://b.example/x"],
  ["https://a.example.:8443/", "https://a.example.:8443/"],
])("[SEC-6-5] %s leads to %s", (location, url) => {
  expect(String(planRedirect(hop("https://a.example/from"), 302, location).url)).toBe(url);
});
