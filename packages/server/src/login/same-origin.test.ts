import { expect, test } from "vitest";
import { isOwnRequest } from "./same-origin.ts";

test.each<[boolean, string, string | undefined, string | undefined]>([
  [true, "POST", undefined, "same-origin"],
  [true, "POST", "http://localhost:7420", undefined],
  [true, "POST", "http://localhost:7420", "same-origin"],
  [true, "GET", undefined, undefined],
  [true, "GET", undefined, "none"],
  [true, "GET", undefined, "same-origin"],
  // A page of another port of this machine: the browser adds the cookie.
  [false, "GET", undefined, "same-site"],
  [false, "POST", undefined, "same-site"],
  [false, "GET", undefined, "cross-site"],
  [false, "POST", "http://localhost:7420", "cross-site"],
  [false, "POST", undefined, undefined],
  [false, "DELETE", undefined, undefined],
  [false, "POST", undefined, "none"],
  [false, "POST", undefined, "nonsense"],
  [false, "GET", undefined, "nonsense"],
])("[SEC-11-L2] %s: %s with Origin %s and Sec-Fetch-Site %s", (own, method, origin, fetchSite) => {
  expect(isOwnRequest({ method, origin, fetchSite })).toBe(own);
});
