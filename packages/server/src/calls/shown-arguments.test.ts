import { describe, expect, test } from "vitest";
import { HIDDEN, planShownArguments } from "./shown-arguments.ts";

type CallCard = Parameters<typeof planShownArguments>[0];

const card = (metadata: object = {}): CallCard =>
  ({
    content: {
      __type__: "ToolCallContent",
      tool_name: "pay",
      arguments: { to: "ann", pin: "1234", currency: "EUR", account: "A1" },
      status: "called",
      target_subject: null,
    },
    metadata,
  }) as unknown as CallCard;

const SCHEMA = { properties: { pin: { type: "string", format: "password" }, note: { writeOnly: true } } };
const LAYERED = {
  tool_args_defaults_applied: ["currency"],
  tool_args_fixed_applied: ["account"],
  tool_args_envs: { key: "BANK_KEY" },
};

describe("[SEE-1] the arguments of a call", () => {
  test("are shown as the tool gets them, with what was not sent", () => {
    expect(planShownArguments(card(LAYERED), undefined, false)).toEqual({
      arguments: { to: "ann", pin: "1234", currency: "EUR", account: "A1" },
      layers: { defaults: ["currency"], fixed: ["account"], envs: { key: "BANK_KEY" }, hidden: [] },
    });
  });

  test("a parameter that its schema marks is hidden from every reader", () => {
    const shown = planShownArguments(card(LAYERED), SCHEMA, false);
    expect(shown?.arguments).toEqual({ to: "ann", pin: HIDDEN, currency: "EUR", account: "A1" });
    expect(shown?.layers.hidden).toEqual(["pin"]);
  });

  test("an agent does not see what the author fixed", () => {
    const shown = planShownArguments(card(LAYERED), SCHEMA, true);
    expect(shown?.arguments).toEqual({ to: "ann", pin: HIDDEN, currency: "EUR", account: HIDDEN });
  });

  test("another card has none", () => {
    const text = { content: { __type__: "TextContent", text: "x" }, metadata: {} } as unknown as CallCard;
    expect(planShownArguments(text, undefined, false)).toBeUndefined();
  });
});
