import { describe, expect, test } from "vitest";
import { parseConfigFile } from "../config/config-file.ts";
import { readApiSettings } from "./api-settings.ts";

const read = (entry: string) =>
  readApiSettings(
    { ...parseConfigFile(`openapi:\n  - ${entry}\n`, "toolplane.yaml"), directory: "/etc/plane" },
    [{ name: "KEY", projects: ["demo"], hosts: "any" }],
    "demo",
  );

test("[API-3-O1] the entry of the interfaces page is read as it is written", () => {
  const [api] = read(
    "{ name: petstore, spec: ./petstore.yaml, base_url: https://api.example.com, allow_hosts: [API.example.com], operations: [get*], auth: { scheme: bearer, env: KEY } }",
  );
  expect(api).toEqual({
    name: "petstore",
    spec: { file: "/etc/plane/petstore.yaml" },
    prefix: undefined,
    baseUrl: "https://api.example.com/",
    allowHosts: ["api.example.com"],
    operations: ["get*"],
    auth: { scheme: "bearer", env: "KEY" },
  });
  expect(read("{ name: a, spec: https://docs.example.com/a.json, auth_env: KEY, prefix: '' }")).toMatchObject([
    { spec: { url: "https://docs.example.com/a.json" }, auth: { scheme: "bearer", env: "KEY" }, prefix: "" },
  ]);
});

describe("[API-3-O1] what is wrong is said with its line", () => {
  test.each([
    ["{ name: 'a b', spec: a }", "toolplane.yaml:2: openapi[0].name: an API's name"],
    ["{ name: a, spec: 'https://me:pw@h/' }", "must not hold a user or a password"],
    ["{ name: a, spec: a, base_url: ftp://h }", "openapi[0].base_url"],
    ["{ name: a, spec: a, allow_hosts: ['a/b'] }", "openapi[0].allow_hosts.0"],
    ["{ name: a, spec: a, prefix: 'x y' }", "openapi[0].prefix"],
    ["{ name: a, spec: a, auth: { scheme: digest, env: KEY } }", "auth.scheme is bearer"],
    ["{ name: a, spec: a, auth_env: OTHER }", "secrets.allow_env"],
    ["{ name: a, spec: a, auth_env: DATABASE_URL }", "a variable of the system"],
    ["{ name: a, spec: a, auth_env: KEY, auth: { scheme: basic, env: KEY } }", "auth_env alone is bearer"],
    ["{ name: a, spec: a, odd: 1 }", 'unknown key "odd"'],
    ["{ name: a, spec: a }\n  - { name: a, spec: b }", "two APIs are named a"],
  ])("%s", (entry, why) => {
    expect(() => read(entry)).toThrow(why);
  });
});
