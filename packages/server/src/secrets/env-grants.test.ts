import { describe, expect, test } from "vitest";
import { createEnvSource, type EnvGrant, type EnvUse, planEnvUse } from "./env-grants.ts";

const GRANTS: readonly EnvGrant[] = [
  { name: "PLAIN", projects: ["alpha"], hosts: "any" },
  { name: "BOUND", projects: ["beta", "gamma"], hosts: ["api.example.com", "*.example.org"] },
  { name: "TWICE", projects: ["alpha"], hosts: ["a.example"] },
  { name: "TWICE", projects: ["beta"], hosts: ["b.example"] },
];

describe("may this project send this variable there", () => {
  test.each<[string, string, string | EnvUse["destination"], boolean]>([
    ["alpha", "PLAIN", { host: "anywhere.example" }, true],
    ["alpha", "PLAIN", "program", true],
    ["alpha", "PLAIN", "definition", true],
    ["beta", "PLAIN", { host: "anywhere.example" }, false],
    ["beta", "PLAIN", "definition", false],
    ["Alpha", "PLAIN", "definition", false],
    ["beta", "BOUND", { host: "api.example.com" }, true],
    ["gamma", "BOUND", { host: "x.example.org" }, true],
    ["gamma", "BOUND", { host: "example.org" }, false],
    ["beta", "BOUND", { host: "api.example.com.evil.example" }, false],
    ["beta", "BOUND", { host: "127.0.0.1" }, false],
    ["beta", "BOUND", "program", false],
    ["beta", "BOUND", "definition", true],
    ["alpha", "BOUND", { host: "api.example.com" }, false],
    ["alpha", "TWICE", { host: "a.example" }, true],
    ["alpha", "TWICE", { host: "b.example" }, false],
    ["alpha", "NONE", { host: "a.example" }, false],
    ["alpha", "plain", "definition", false],
    ["alpha", "DATABASE_URL", "definition", false],
  ])("[SEC-7-G2] %s, %s, %j: %s", (projectId, name, destination, allowed) => {
    const use = { projectId, name, destination } as EnvUse;
    expect(planEnvUse(GRANTS, use) === undefined).toBe(allowed);
    expect(planEnvUse([], use)).toBeDefined();
  });

  test("[SEC-7-G1] a refusal is auth_failed, has the variable, the project and what to set, and is the same without a value", () => {
    const use: EnvUse = { projectId: "beta", name: "PLAIN", destination: { host: "a.example" } };
    const refused = (env: Record<string, string>): unknown => {
      try {
        return createEnvSource(GRANTS, env)(use);
      } catch (error) {
        return error;
      }
    };
    const failure = refused({ PLAIN: "canary" });
    expect(failure).toMatchObject({
      code: "auth_failed",
      message:
        "the variable PLAIN may not be used by project beta: the operator of the plane lists { name: PLAIN, projects: [beta] } in secrets.allow_env of toolplane.yaml",
    });
    expect(refused({})).toEqual(failure);
  });

  test("only what was set is a value", () => {
    const read = createEnvSource([{ name: "toString", projects: ["a"], hosts: "any" }, ...GRANTS], { PLAIN: "v" });
    expect(read({ projectId: "alpha", name: "PLAIN", destination: { host: "x" } })).toBe("v");
    expect(read({ projectId: "a", name: "toString", destination: { host: "x" } })).toBeUndefined();
  });
});
