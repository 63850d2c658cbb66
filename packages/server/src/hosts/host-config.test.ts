import { expect, test } from "vitest";
import { configSecrets, fillConfig, namedVariables } from "./host-config.ts";

const CONFIG = { url: "http://x", keys: ["env:A", { deep: "env:B" }], n: 1, env: "no env:A" };

test("[SEC-7-H2] the variables a config names, and where", () => {
  expect(namedVariables(CONFIG)).toEqual([
    { path: ["keys", 0], name: "A" },
    { path: ["keys", 1, "deep"], name: "B" },
  ]);
});

test("[SEC-7-H2] their values are filled in and are secrets; a missing one is auth_failed", () => {
  const env = { A: "1", B: "two" };
  expect(fillConfig("text", CONFIG, env)).toEqual({ ...CONFIG, keys: ["1", { deep: "two" }] });
  expect([...configSecrets(CONFIG, env)]).toEqual(Object.entries(env));
  expect(() => fillConfig("text", CONFIG, { A: "1", B: " " })).toThrow(
    expect.objectContaining({ code: "auth_failed", message: expect.stringContaining("config.keys.1.deep") }),
  );
});
