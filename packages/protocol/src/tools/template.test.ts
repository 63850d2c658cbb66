import fc from "fast-check";
import { describe, expect, test } from "vitest";
import {
  isTemplateVariable,
  parseTemplate,
  renderTemplate,
  TEMPLATE_VARIABLES,
  type TemplateValues,
} from "./template.ts";

const values: TemplateValues = {
  project_id: "p1",
  channel_id: "public",
  agent_id: "helper",
  agent_turn_id: "turn_1",
  turn_epoch: 0,
  step_id: "step_1",
  tool_call_id: "tc_1",
  trace_id: "a".repeat(32),
  parent_step_id: null,
  context_box_id: "box",
  recursion_depth: 2,
  parent_agent_id: "boss",
  parent_agent_turn_id: "turn_0",
};

const render = (text: string, allowNull: readonly string[] = []) =>
  renderTemplate(text, { at: "x", values, allowNull });

describe("templates", () => {
  test("[UTP-5.3-8] the variables are the ten ids of the protocol and three of the lineage", () => {
    expect([...TEMPLATE_VARIABLES].sort()).toEqual([
      "agent_id",
      "agent_turn_id",
      "channel_id",
      "context_box_id",
      "parent_agent_id",
      "parent_agent_turn_id",
      "parent_step_id",
      "project_id",
      "recursion_depth",
      "step_id",
      "tool_call_id",
      "trace_id",
      "turn_epoch",
    ]);
    expect(isTemplateVariable("toString")).toBe(false);
  });

  test.each([
    ["plain", "plain"],
    ["{agent_turn_id}", "turn_1"],
    ["{project_id}/{agent_id}", "p1/helper"],
    ["epoch {turn_epoch}, depth {recursion_depth}", "epoch 0, depth 2"],
    ["{{literal}}", "{literal}"],
    ["{{{project_id}}}", "{p1}"],
    ['{{"a": "{step_id}"}}', '{"a": "step_1"}'],
    ["", ""],
  ])("[UTP-5.3-9] %j renders as %j", (template, expected) => {
    expect(render(template)).toBe(expected);
  });

  test.each(["{x}", "{", "}", "{}", "{ project_id}", "{project_id", "{{{project_id}}", "{__proto__}", "{constructor}"])(
    "[UTP-5.3-9] %j is refused",
    (template) => {
      expect(() => parseTemplate(template, "x")).toThrow(/^x: /);
      expect(() => render(template)).toThrow(/^x: /);
    },
  );

  test("[UTP-5.3-10] a variable without a value fails the call and is named, unless the definition allows it", () => {
    expect(() => render("{parent_step_id}")).toThrow('x: template variable "{parent_step_id}" has no value');
    expect(() => render("{parent_step_id}", ["step_id"])).toThrow("parent_step_id");
    expect(render("a{parent_step_id}b", ["parent_step_id"])).toBe("ab");
    expect(() => renderTemplate("{step_id}", { at: "x", values: {}, allowNull: [] })).toThrow("step_id");
  });

  test("a value is put in as it is: braces inside an id are not rendered again", () => {
    const odd = renderTemplate("{agent_id}", { at: "x", values: { agent_id: "{project_id}" }, allowNull: [] });
    expect(odd).toBe("{project_id}");
  });

  test("escaping any text and rendering it gives the text back", () => {
    fc.assert(
      fc.property(fc.string({ unit: fc.constantFrom("{", "}", "a", "é") }), (text) => {
        const escaped = text.replaceAll("{", "{{").replaceAll("}", "}}");
        expect(render(escaped)).toBe(text);
        expect(parseTemplate(escaped, "x")).toEqual([]);
      }),
    );
  });
});
