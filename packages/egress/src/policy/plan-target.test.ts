import { describe, expect, test } from "vitest";
import { allow } from "../../test/servers.ts";
import { parseAllowedOrigin, showOrigin } from "./allowed-origin.ts";
import { matchesHost, parseHostPattern } from "./host-name.ts";
import { planTarget } from "./plan-target.ts";
import { createPolicy } from "./policy.ts";

const policy = createPolicy({ hosts: "any", ports: [8443], allow: allow("http://127.0.0.1:11434") });

describe("an address by its text alone", () => {
  test.each(["https://127.0.0.1", "https://0x7f.1:8443", "https://10.1", "https://[::1]", "https://localhost"])(
    "[SEC-6-3] %s is refused with the line to add, before anything is resolved",
    (address) => {
      const origin = showOrigin(parseAllowedOrigin(address));
      expect(() => planTarget(address, policy)).toThrow(
        expect.objectContaining({
          code: "auth_failed",
          message: expect.stringContaining(`egress.allow: ["${origin}"] in toolplane.yaml`),
        }),
      );
    },
  );

  test.each(["https://169.254.169.254", "https://0xa9fea9fe", "https://[fd00:ec2::254]", "https://224.0.0.1"])(
    "[SEC-6-3] %s is refused, and no line is offered",
    (address) => {
      expect(() => planTarget(address, policy)).toThrow(
        expect.objectContaining({ message: expect.not.stringContaining("egress.allow") }),
      );
    },
  );

  test.each([
    ["https://api.openai.com/v1", "https://api.openai.com/v1", false],
    ["https://API.example.com.:8443/", "https://api.example.com:8443/", false],
    ["http://2130706433:11434/v1", "http://127.0.0.1:11434/v1", true],
    ["https://[2606:4700::1]/", "https://[2606:4700::1]/", false],
  ])("%s is asked as %s", (address, href, isAllowed) => {
    const target = planTarget(address, policy);
    expect([target.url.href, target.isAllowed]).toEqual([href, isAllowed]);
  });
});

describe("what an operator may write", () => {
  test.each(["", "127.0.0.1", "ftp://a", "http://*", "http://", "https://*.example.com"])(
    "[SEC-6-1] %j is not an address to allow",
    (text) => {
      expect(() => parseAllowedOrigin(text)).toThrow(expect.objectContaining({ code: "bad_request" }));
    },
  );

  test.each(["http://u:hunter2@a", "http://a/path", "http://a?x=1", "http://a#b"])(
    "[SEC-6-1] %s is more than an address to allow",
    (text) => {
      expect(() => parseAllowedOrigin(text)).toThrow("a scheme, a host and a port and nothing else: http://a");
    },
  );

  test.each(["http://169.254.169.254", "http://0.0.0.0:80", "http://[fe80::1]:80", "http://255.255.255.255"])(
    "[SEC-6-3] %s cannot be allowed",
    (text) => {
      expect(() => parseAllowedOrigin(text)).toThrow("cannot be allowed");
    },
  );

  test.each([
    ["api.example.com", "api.example.com", true],
    ["API.Example.com.", "api.example.com", true],
    ["*.example.com", "a.b.example.com", true],
    ["*.example.com", "example.com", false],
    ["*.example.com", "evilexample.com", false],
    ["api.example.com", "x.api.example.com", false],
    ["0x7f.1", "127.0.0.1", true],
    ["::1", "::1", true],
  ])("[SEC-6-2] %s and %s: %s", (pattern, host, matches) => {
    expect(matchesHost(parseHostPattern(pattern), host)).toBe(matches);
  });

  test.each(["", "*", "*.", "*.com", "a b", "a/b", "https://a", "a:1", "u@a", "*.*.com", "a..", "a?b", "a#b"])(
    "[SEC-6-2] %j is not a pattern",
    (text) => {
      expect(() => parseHostPattern(text)).toThrow(expect.objectContaining({ code: "bad_request" }));
    },
  );
});
