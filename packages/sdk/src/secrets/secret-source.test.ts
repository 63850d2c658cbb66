import { ToolplaneError } from "@toolplane/protocol";
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

  test("inherited properties are not variables", async () => {
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

describe("which variable fills a parameter", () => {
  const twice = { secrets: ["TOKEN"], envs: { api_key: "API_KEY", region: "REGION" } };
  const recorded = { tool_args_envs: { api_key: "TOKEN" } };
  test.each([
    ["the definition, as the code has it", {}, {}, "API_KEY"],
    ["what the card recorded", recorded, {}, "TOKEN"],
    ["the configuration of the service, above both", recorded, { api_key: "SERVICE_KEY" }, "SERVICE_KEY"],
  ])("[SEC-7-S5] %s", (_name, metadata, configured, name) => {
    const needs = planSecrets(twice, metadata, configured);
    expect(needs.envs.get("api_key")).toBe(name);
    expect(needs.names).toContain(name);
    expect(needs.envs.get("region")).toBe("REGION");
  });

  test("[SEC-7-S5] a variable that was replaced need not be set", async () => {
    const needs = planSecrets(twice, {}, { api_key: "SERVICE_KEY" });
    const values = await readSecrets(needs, createEnvSecrets({ SERVICE_KEY: "s", TOKEN: "t", REGION: "eu" }));
    expect(injectSecrets({}, needs, values)).toEqual({ api_key: "s", region: "eu" });
  });

  test("[SEC-7-S5] the configuration fills no parameter that the definition leaves to the caller", () => {
    expect([...planSecrets(twice, {}, { other: "SERVICE_KEY" }).names]).toEqual(["TOKEN", "API_KEY", "REGION"]);
  });

  test("[SEC-7-S5] the configuration names no variable of the system either", () => {
    expect(() => planSecrets(twice, {}, { api_key: "DATABASE_URL" })).toThrow(/DATABASE_URL/u);
  });
});

test("[SEC-7-S4] a variable that the tool can do without counts as missing where it may not be used", async () => {
  const refuse = () => {
    throw new ToolplaneError("auth_failed", "not for this project");
  };
  const optional = planSecrets({ secrets: ["KEY"], envs: {}, optionalSecrets: ["KEY"] }, {});
  expect(await readSecrets(optional, refuse)).toEqual(new Map());
  await expect(readSecrets(planSecrets({ secrets: ["KEY"], envs: {} }, {}), refuse)).rejects.toMatchObject({
    code: "auth_failed",
  });
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
