import { expect, test } from "vitest";
import { forgetCookie, sessionCookie, sessionSecretsOf } from "./session-cookie.ts";

test.each<[string, string | undefined, readonly string[]]>([
  ["no cookie", undefined, []],
  ["ours", "toolplane_session=tps_1", ["tps_1"]],
  ["ours among others", "a=b; toolplane_session=tps_1; c=d", ["tps_1"]],
  ["a name that ends like ours", "xtoolplane_session=tps_1", []],
  ["two of our name", "toolplane_session=one; toolplane_session=two; toolplane_session=three", ["one", "two"]],
  ["a long value", `toolplane_session=${"x".repeat(500)}`, []],
])("of a header with %s", (_what, header, secrets) => {
  expect(sessionSecretsOf(header)).toEqual(secrets);
});

test("[SEC-11-L1] the cookie is for this server alone, out of the page's reach, and over TLS only when it came over TLS", () => {
  const plain = sessionCookie("tps_1", { isSecure: false, seconds: 60.7 });
  expect(plain).toBe("toolplane_session=tps_1; Path=/; Max-Age=60; HttpOnly; SameSite=Strict");
  expect(sessionCookie("tps_1", { isSecure: true, seconds: 60 })).toContain("; Secure");
  expect(forgetCookie(false)).toContain("toolplane_session=; Path=/; Max-Age=0; HttpOnly");
});
