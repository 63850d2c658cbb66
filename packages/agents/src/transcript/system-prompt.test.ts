import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { fillPlaceholders, PROMPT_PLACEHOLDERS, renderSystemPrompt } from "./system-prompt.ts";

describe("a system prompt", () => {
  test.each([
    ["a known one", "You are {display_name}.", "You are Ann."],
    ["one twice", "{display_name} {display_name}", "Ann Ann"],
    ["an unknown one", "Hello {who}.", "Hello {who}."],
    ["one without a value", "Ask {downstream_desc}.", "Ask {downstream_desc}."],
    ["a JSON example", '{"a": {"display_name": 1}}', '{"a": {"display_name": 1}}'],
    ["doubled braces", "{{display_name}}", "{Ann}"],
    ["braces that do not close", "{ {display_name", "{ {display_name"],
    ["braces that close only", "} display_name}", "} display_name}"],
    ["an empty pair", "{}", "{}"],
    ["a name of the prototype", "{constructor} {__proto__}", "{constructor} {__proto__}"],
    ["a value with braces", "{downstream_roster}", "{display_name}"],
  ])("[UTP-10.2-7] %s", (_name, template, expected) => {
    expect(fillPlaceholders(template, { display_name: "Ann", downstream_roster: "{display_name}" })).toBe(expected);
  });

  test("[UTP-10.2-7] no template makes it fail, and without known names nothing changes", () => {
    fc.assert(
      fc.property(fc.string({ unit: "binary" }), (template) => {
        fc.pre(!PROMPT_PLACEHOLDERS.some((name) => template.includes(name)));
        expect(fillPlaceholders(template, { display_name: "Ann" })).toBe(template);
      }),
    );
  });

  test("[ARCH-9-T3] lists the required result fields", () => {
    const resultFields = [{ name: "title" }, { name: "body", description: "in plain words" }];
    expect(renderSystemPrompt({ template: "Write.", resultFields })).toBe(
      "Write.\n\nRequired result fields:\n- title\n- body: in plain words",
    );
    expect(renderSystemPrompt({ template: "" })).toBe("");
  });
});
