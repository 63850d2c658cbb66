import { readFileSync } from "node:fs";
import { describe, expect, test } from "vitest";
import {
  acceptsWork,
  type Project,
  parseProjectCreate,
  parseProjectPatch,
  planProjectCreate,
  planProjectPatch,
  projectSchema,
} from "./project.ts";

interface Fixture {
  readonly valid: readonly { readonly name: string; readonly input: unknown; readonly output: object }[];
  readonly invalid: readonly {
    readonly name: string;
    readonly input: unknown;
    readonly code: string;
    readonly says?: string;
  }[];
}

const fixture = (name: string): Fixture =>
  JSON.parse(readFileSync(new URL(`../../fixtures/v1r4/project/${name}.json`, import.meta.url), "utf8")) as Fixture;

describe.each([
  ["create", parseProjectCreate, "[UTP-5.8-1] [UTP-5.8-3] a new project"],
  ["patch", parseProjectPatch, "[UTP-5.8-2] [UTP-W30-3] a change of a project"],
] as const)("%s", (name, parse, title) => {
  const { valid, invalid } = fixture(name);

  test.each(valid)(`${title}: $name passes`, ({ input, output }) => {
    expect(parse(input)).toEqual(output);
  });

  test.each(invalid)(`${title}: $name is refused`, ({ input, code, says }) => {
    expect(() => parse(input)).toThrow(expect.objectContaining({ code, message: expect.stringContaining(says ?? "") }));
  });
});

const ORIGIN = { projectId: "proj_0123456789ab", callerId: "token:1", now: "2026-01-01T00:00:00Z" };
const project: Project = planProjectCreate(parseProjectCreate({ title: "Demo" }), ORIGIN);

describe("plans", () => {
  test("[UTP-5.8-1] without id and owner the made id and the caller are taken; a new project is active", () => {
    expect(project).toEqual({
      project_id: "proj_0123456789ab",
      title: "Demo",
      status: "active",
      owner_id: "token:1",
      created_at: ORIGIN.now,
      updated_at: ORIGIN.now,
    });
    expect(projectSchema.parse(project)).toEqual(project);
  });

  test("[UTP-5.8-4] an id that exists is a conflict naming it", () => {
    const request = parseProjectCreate({ title: "Demo", project_id: "demo" });
    expect(() => planProjectCreate(request, ORIGIN, project)).toThrow(
      expect.objectContaining({ code: "conflict", message: expect.stringContaining("demo") }),
    );
  });

  test("[UTP-W30-3] updated_at moves with a change and only with a change", () => {
    const later = "2026-01-02T00:00:00Z";
    expect(planProjectPatch(project, { title: "New" }, later)).toEqual({ ...project, title: "New", updated_at: later });
    expect(planProjectPatch(project, { status: "archived" }, later)).toMatchObject({
      status: "archived",
      updated_at: later,
    });
    expect(planProjectPatch(project, {}, later)).toBe(project);
    expect(planProjectPatch(project, { title: "Demo", status: "active" }, later)).toBe(project);
  });

  test.each([
    ["active", true],
    ["inactive", false],
    ["archived", false],
  ] as const)("[UTP-5.8-2] a project that is %s takes new work: %s", (status, accepts) => {
    expect(acceptsWork({ status })).toBe(accepts);
  });
});
