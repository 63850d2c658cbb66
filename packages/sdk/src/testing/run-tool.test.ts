import { describe, expect, test } from "vitest";
import { z } from "zod";
import { defineTool } from "../tools/define-tool.ts";
import { ToolError } from "../tools/tool-error.ts";
import { runTool } from "./run-tool.ts";

const greet = defineTool({
  name: "greet",
  description: "Greets",
  parameters: z.object({ name: z.string(), loud: z.boolean().default(false) }),
  secrets: ["GREETING"],
  run: ({ name, loud }, { secrets, emit, call }) => {
    emit({ greeting: name });
    if (name === "nobody") throw new ToolError("tool_error", "there is nobody to greet");
    return { text: loud ? name.toUpperCase() : name, key: `with ${secrets.GREETING}`, by: call.context.agentId };
  },
});
const secrets = { GREETING: "s3cret-word" };

describe("[API-6-T1] runTool", () => {
  test("gives defaults, secrets and a context; a secret does not come back", async () => {
    const parts: unknown[] = [];
    const result = await runTool(
      greet,
      { name: "Ada" },
      { secrets, onPart: (part) => parts.push(part), agent: "anna" },
    );
    expect(result).toEqual({ text: "Ada", key: expect.not.stringContaining("s3cret"), by: "anna" });
    expect(parts).toEqual([{ greeting: "Ada" }]);
  });

  test.each([
    ["arguments that do not fit", { name: 3 }, secrets, "bad_request", "$.name"],
    ["a secret that is not given", { name: "Ada" }, {}, "auth_failed", "GREETING"],
    ["what the tool throws", { name: "nobody" }, secrets, "tool_error", "nobody to greet"],
  ])("%s is the error that a caller gets", async (_, args, given, code, text) => {
    const error = await runTool(greet, args, { secrets: given }).catch((thrown: unknown) => thrown);
    expect(error).toMatchObject({ code, message: expect.stringContaining(text) });
  });

  test("a result that is not JSON fails as it would in a service", async () => {
    const odd = defineTool({ name: "odd", description: "", parameters: { type: "object" }, run: () => 1n });
    await expect(runTool(odd, {})).rejects.toMatchObject({ code: "result_not_serializable" });
  });
});
