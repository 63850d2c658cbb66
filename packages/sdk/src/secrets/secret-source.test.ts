import { describe, expect, test } from "vitest";
import { createEnvSecrets, injectSecrets, planSecrets, readSecrets } from "./secret-source.ts";

const declared = { secrets: ["TOKEN"], envs: { api_key: "API_KEY" } };

describe("planSecrets", () => {
  test("[SEC-7-S3] the code's declarations and the card's record, joined", () => {
    const needs = planSecrets(declared, { tool_args_envs: { api_key: "API_KEY", other: "TOKEN" } });
    expect([...needs.envs]).toEqual([
      ["api_key", "API_KEY"],
      ["other", "TOKEN"],
    ]);
    expect(needs.names).toEqual(["TOKEN", "API_KEY"]);
  });

  test.each([
    ["a variable the code does not declare", declared, { tool_args_envs: { api_key: "HOME" } }, "HOME"],
    ["the plane's own token", { secrets: ["TOOLPLANE_TOKEN"], envs: {} }, {}, "TOOLPLANE_TOKEN"],
    ["the database", { secrets: [], envs: { url: "DATABASE_URL" } }, {}, "DATABASE_URL"],
    ["no variable name", { secrets: ["A B"], envs: {} }, {}, "A B"],
  ])("[SEC-7-S3] %s is refused by name", (_name, code, metadata, word) => {
    expect(() => planSecrets(code, metadata)).toThrow(
      expect.objectContaining({ code: "auth_failed", message: expect.stringContaining(word) }),
    );
  });

  test.each([[null], ["x"], [{ a: 3 }], [[]]])("a record that is %j counts as none", (tool_args_envs) => {
    expect(planSecrets({ secrets: [], envs: {} }, { tool_args_envs }).names).toEqual([]);
  });
});

describe("readSecrets", () => {
  test.each([[{}], [{ TOKEN: "" }], [{ TOKEN: "  " }]])(
    "[SEC-7-S4] with %j set the call is auth_failed",
    async (env) => {
      const work = readSecrets(planSecrets({ secrets: ["TOKEN"], envs: {} }, {}), createEnvSecrets(env));
      await expect(work).rejects.toMatchObject({ code: "auth_failed", message: expect.stringContaining("TOKEN") });
    },
  );

  test("inherited properties are no variables", async () => {
    const work = readSecrets(planSecrets({ secrets: ["toString"], envs: {} }, {}), createEnvSecrets({}));
    await expect(work).rejects.toMatchObject({ code: "auth_failed" });
  });
});

test("a variable that may be missing is left out, and the source learns where the values go", async () => {
  const needs = planSecrets(
    { secrets: ["TOKEN"], envs: { key: "KEY" }, optionalSecrets: ["KEY"], sentTo: "api.example.com" },
    {},
  );
  const asked: unknown[] = [];
  const values = await readSecrets(needs, (name, use) => {
    asked.push([name, use]);
    return name === "TOKEN" ? "t" : undefined;
  });
  expect([...values]).toEqual([["TOKEN", "t"]]);
  expect(asked).toEqual([
    ["TOKEN", { host: "api.example.com" }],
    ["KEY", { host: "api.example.com" }],
  ]);
  expect(injectSecrets({ key: "forged", q: 1 }, needs, values)).toEqual({ q: 1 });
});

test("[SEC-8-S1] an injected value replaces whatever the caller sent under its name", () => {
  const needs = planSecrets(declared, {});
  const values = new Map([
    ["API_KEY", "real"],
    ["TOKEN", "t"],
  ]);
  expect(injectSecrets({ api_key: "forged", q: 1 }, needs, values)).toEqual({ api_key: "real", q: 1 });
  const odd = { envs: new Map([["__proto__", "API_KEY"]]) };
  const args = injectSecrets({}, odd, values);
  expect(Object.getPrototypeOf(args)).toBe(Object.prototype);
  expect(Object.hasOwn(args, "__proto__")).toBe(true);
});
