import { readFileSync } from "node:fs";
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { ToolplaneError } from "../errors/toolplane-error.ts";
import { mayUseTool, parseProfile, parseProfileCard } from "./profile.ts";
import { findProfile, planProfileUpsert, profileRowSchema } from "./profile-row.ts";

interface Fixture {
  readonly valid: readonly { readonly name: string; readonly input: unknown; readonly output?: object }[];
  readonly invalid: readonly {
    readonly name: string;
    readonly input: unknown;
    readonly code: string;
    readonly says?: string;
  }[];
}

const fixture = (name: string): Fixture =>
  JSON.parse(readFileSync(new URL(`../../fixtures/v1r4/profile/${name}.json`, import.meta.url), "utf8")) as Fixture;

describe.each([
  ["upload", "[UTP-5.7-1] [UTP-5.7-2] [UTP-5.7-3] [UTP-5.7-4] the parts of a profile"],
  ["secrets", "[UTP-5.7-5] [INV-I8-R3] a profile holds no key, only the name of a variable"],
])("%s", (name, title) => {
  const { valid, invalid } = fixture(name);

  test.each(valid)(`${title}: $name passes`, ({ input, output }) => {
    expect(parseProfile(input)).toMatchObject(output ?? {});
  });

  test.each(invalid)(`${title}: $name is refused`, ({ input, code, says }) => {
    expect(() => parseProfile(input)).toThrow(
      expect.objectContaining({ code, message: expect.stringContaining(says ?? "") }),
    );
  });
});

const least = { name: "Assistant", worker_target: "worker_generic" };

describe("profiles", () => {
  test("a profile that was stored reads back as itself, and is frozen", () => {
    const profile = parseProfile({ ...least, tags: "a,b", system_prompt: "x", delegation_policy: {}, extra: [1] });
    expect(parseProfileCard(profile)).toEqual(profile);
    expect(Object.isFrozen(profile.llm_config)).toBe(true);
  });

  test("[UTP-5.7-6] [UTP-W20-3] a tool that is not listed may not be used; saying nothing allows nothing", () => {
    const some = parseProfile({ ...least, allowed_tools: ["search"] });
    expect(mayUseTool(some, "search")).toBe(true);
    expect(mayUseTool(some, "Search")).toBe(false);
    expect(mayUseTool(some, "delete_all")).toBe(false);
    expect(mayUseTool(parseProfile(least), "search")).toBe(false);
  });

  test("[UTP-5.7-6] null in a stored card allows every tool, but not the internal ones", () => {
    const all = parseProfileCard({ ...least, allowed_tools: null });
    expect(mayUseTool(all, "anything")).toBe(true);
    expect(mayUseTool(all, "submit_result")).toBe(false);
  });

  test("[UTP-5.7-7] [UTP-W20-3] submit_result needs its own permission", () => {
    expect(mayUseTool(parseProfile({ ...least, allowed_internal_tools: ["submit_result"] }), "submit_result")).toBe(
      true,
    );
    expect(mayUseTool(parseProfile({ ...least, allowed_tools: ["submit_result"] }), "submit_result")).toBe(false);
  });

  test("random uploads are refused with a ToolplaneError and nothing else", () => {
    const almost = fc.record(
      {
        name: fc.oneof(fc.constant("x"), fc.anything()),
        worker_target: fc.oneof(fc.constant("w"), fc.anything()),
        tags: fc.anything(),
        llm_config: fc.anything(),
        delegation_policy: fc.anything(),
        system_prompt: fc.anything(),
        allowed_tools: fc.anything(),
      },
      { requiredKeys: [] },
    );
    fc.assert(
      fc.property(fc.oneof(almost, fc.anything()), (input) => {
        try {
          parseProfile(input);
        } catch (error) {
          expect(error).toBeInstanceOf(ToolplaneError);
        }
      }),
    );
  });
});

describe("rows", () => {
  const rows = [{ name: "Assistant" }, { name: "Straße" }];
  const upsert = (name: string) =>
    planProfileUpsert(rows, {
      projectId: "p1",
      profile: parseProfile({ ...least, name, tags: ["t"], system_prompt: "You help." }),
      profileBoxId: "0190a5b4-6c1e-7d3a-9f00-0123456789ab",
      now: "2026-01-01T00:00:00Z",
    });

  test.each([
    ["assistant", "Assistant"],
    ["  ASSISTANT ", "Assistant"],
    ["ａssistant", "Assistant"],
    ["STRASSE", "Straße"],
    ["assistant2", undefined],
  ])("[UTP-5.7-8] [UTP-W30-1] %j finds %j", (name, found) => {
    expect(findProfile(rows, name)?.name).toBe(found);
  });

  test("[UTP-W30-2] an upload whose name differs only by case replaces the row; the key is the same", () => {
    expect(upsert("ASSISTANT").outcome).toBe("replace");
    expect(upsert("ASSISTANT").key).toBe(upsert("assistant").key);
    expect(upsert("Writer").outcome).toBe("insert");
  });

  test("[UTP-5.7-9] the row points at the box of this upload and holds the template as it is", () => {
    const { row } = upsert("Writer");
    expect(row).toEqual({
      project_id: "p1",
      profile_box_id: "0190a5b4-6c1e-7d3a-9f00-0123456789ab",
      name: "Writer",
      worker_target: "worker_generic",
      tags: ["t"],
      system_prompt_compiled: "You help.",
      updated_at: "2026-01-01T00:00:00Z",
    });
    expect(profileRowSchema.parse(row)).toEqual(row);
  });
});
