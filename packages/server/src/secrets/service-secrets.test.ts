import { describe, expect, test } from "vitest";
import { createEnvSource, type EnvGrant } from "./env-grants.ts";
import { createServiceSecrets, planServiceEnvs } from "./service-secrets.ts";

const grants: readonly EnvGrant[] = [
  { name: "ANYWHERE", projects: ["shop"], hosts: "any" },
  { name: "ONE_HOST", projects: ["shop"], hosts: ["api.example.com"] },
];
const env = { ANYWHERE: "a", ONE_HOST: "o", NOT_LISTED: "n" };

describe("the source of variables for what the plane runs itself", () => {
  const source = createServiceSecrets(createEnvSource(grants, env), "shop");
  const refused = expect.objectContaining({ code: "auth_failed" });

  test("[SEC-7-1] only listed variables, and one that is bound to hosts only to those", () => {
    expect(source("ANYWHERE", { host: "other.example.com" })).toBe("a");
    expect(source("ANYWHERE", {})).toBe("a");
    expect(source("ONE_HOST", { host: "api.example.com" })).toBe("o");
    expect(() => source("ONE_HOST", { host: "other.example.com" })).toThrow(refused);
    expect(() => source("NOT_LISTED", {})).toThrow(refused);
    expect(() => source("DATABASE_URL", {})).toThrow(refused);
  });

  test("[SEC-7-1] the code of a tool may send a value anywhere, so it gets none that is bound to hosts", () => {
    expect(() => source("ONE_HOST", {})).toThrow(refused);
  });

  test("[SEC-7-1] another project has its own list", () => {
    expect(() => createServiceSecrets(createEnvSource(grants, env), "audit")("ANYWHERE", {})).toThrow(refused);
  });
});

test("[UTP-9-7] the configuration of a target counts more than that of every target", () => {
  const envs = { "*": { api_key: "COMMON", region: "REGION" }, openapi: { api_key: "OWN" } };
  expect(planServiceEnvs(envs, "openapi")).toEqual({ api_key: "OWN", region: "REGION" });
  expect(planServiceEnvs(envs, "other")).toEqual({ api_key: "COMMON", region: "REGION" });
  expect(planServiceEnvs({}, "constructor")).toEqual({});
});
