import { readFileSync } from "node:fs";
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { readFixture } from "../../test/fixture.ts";
import { ToolplaneError } from "../errors/toolplane-error.ts";
import { llmConfigSchema, mayUseTool, parseProfile, parseProfileCard, profileKey } from "./profile.ts";

describe.each([
  ["upload", "[UTP-5.7-1] [UTP-5.7-2] [UTP-5.7-3] [UTP-5.7-4] the parts of a profile"],
  ["secrets", "[UTP-5.7-5] [INV-I8-R3] a profile holds no key, only the name of a variable"],
])("%s", (name, title) => {
  const { valid, invalid } = readFixture(`profile/${name}`);

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

  test("[AGENT-profile-keys] a key with a mistake in it is refused with the one that was meant; others are kept", () => {
    const upload = { name: "p", worker_target: "w" };
    expect(() => parseProfile({ ...upload, alowed_tools: ["echo"] })).toThrow("did you mean allowed_tools?");
    expect(() => parseProfile({ ...upload, system_promt: "x" })).toThrow("did you mean system_prompt?");
    expect(parseProfile({ ...upload, task: 1, temperament: "calm" })).toMatchObject({ task: 1, temperament: "calm" });
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

test.each([
  ["assistant", "Assistant"],
  ["  ASSISTANT ", "Assistant"],
  ["ａssistant", "Assistant"],
  ["STRASSE", "Straße"],
])("[UTP-W30-1] %j and %j are one name", (name, other) => {
  expect(profileKey(name)).toBe(profileKey(other));
  expect(profileKey(`${name}2`)).not.toBe(profileKey(other));
});

test("[BUDGET-keys] the reference page names every key, once", () => {
  const page = readFileSync(new URL("../../../../docs/reference/profiles.md", import.meta.url), "utf8");
  const [ofProfile = "", ofModel = ""] = page.split("## `llm_config`");
  const named = (text: string): string[] => [...text.matchAll(/^\| `([a-z_]+)` \|/gm)].map(([, key]) => key ?? "");
  const optional = { description: "d", delegation_policy: {}, budget: {} };
  const keys = Object.keys(parseProfile({ name: "n", worker_target: "w", ...optional }));
  const short = keys.map((key) => (key === "system_prompt_template" ? "system_prompt" : key));
  expect(named(ofProfile).sort()).toEqual(short.sort());
  expect(named(ofModel).sort()).toEqual(Object.keys(llmConfigSchema.unwrap().shape).sort());
});
