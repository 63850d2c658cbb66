import { UsageError } from "@toolplane/protocol";
import { describe, expect, expectTypeOf, test } from "vitest";
import { z } from "zod";
import { defineTool, definitionOf, type ToolContext, type ToolInput } from "./define-tool.ts";

const base = {
  name: "count_words",
  description: "Count the words of a text",
  parameters: z.object({ text: z.string() }),
};
const countWords = defineTool({
  ...base,
  retry: "safe",
  run: async ({ text }) => ({ words: text.split(" ").length }),
});

describe("defineTool", () => {
  test("[API-6-1] a name, a description, a schema and a function are enough", () => {
    expect(countWords).toMatchObject({
      name: "count_words",
      description: "Count the words of a text",
      afterExecution: "suspend",
      options: { retry: "safe" },
      parameters: { type: "object", required: ["text"] },
    });
  });

  test("[API-6-1] the types of the parameters are the types of run's arguments", () => {
    defineTool({
      ...base,
      run: (args, context) => {
        expectTypeOf(args).toEqualTypeOf<{ text: string }>();
        expectTypeOf(context).toEqualTypeOf<ToolContext>();
      },
    });
    defineTool({
      ...base,
      parameters: { type: "object", properties: { n: { type: "integer" } }, required: ["n"] },
      run: (args) => {
        expectTypeOf(args).toEqualTypeOf<{ n: number }>();
      },
    });
  });

  test("[API-6-1] run gets arguments the schema has made", async () => {
    const seen: unknown[] = [];
    const tool = defineTool({
      ...base,
      parameters: z.object({ text: z.string(), top: z.number().default(5) }),
      run: (args) => seen.push(args),
    });
    await tool.run({ text: "a" }, {} as ToolContext);
    expect(seen).toEqual([{ text: "a", top: 5 }]);
    await expect(tool.run({}, {} as ToolContext)).rejects.toMatchObject({ code: "bad_request" });
  });

  test.each<[string, Partial<ToolInput<unknown>>, string]>([
    ["a name with a blank", { name: "count words" }, "count words"],
    ["a reserved name", { name: "submit_result" }, "reserved"],
    ["no function", { run: 3 as never }, "run must be a function"],
    ["parameters that are not an object", { parameters: z.string() }, "object"],
    [
      "an array that does not say of what",
      { parameters: { type: "object", properties: { a: { type: "array" } } } },
      "items",
    ],
    ["a time limit below nothing", { timeoutSeconds: -1 }, "timeout_seconds"],
    ["an option nobody knows", { options: { tiemout: 3 } as never }, "tiemout"],
    [
      "[SEE-21] a key that does not exist",
      { timeout_seconds: 3 } as never,
      "no key timeout_seconds; did you mean timeoutSeconds?",
    ],
    ["[SEE-21] the beginning of a key", { timeout: 3 } as never, "no key timeout; did you mean timeoutSeconds?"],
    ["[SEE-21] a key with a typing mistake", { retyr: "safe" } as never, "no key retyr; did you mean retry?"],
    [
      "[SEE-21] an option in the wrong place",
      { outputSchema: {} } as never,
      "write it as options: { output_schema: ... }",
    ],
    ["[SEE-21] a key like no other", { handler: 3 } as never, "no key handler; the keys are name, description,"],
    ["a hidden character", { description: "a\u202eb" }, "bidi"],
    ["a variable that is never given to a tool", { envs: { key: "DATABASE_URL" } }, "DATABASE_URL"],
  ])("[API-6-S13] %s is a mistake when the program starts", (_name, change, words) => {
    const make = () => defineTool({ ...base, run: () => 1, ...change } as never);
    expect(make).toThrow(UsageError);
    expect(make).toThrow(words);
  });
});

describe("definitionOf", () => {
  test("[API-6-S14] the definition that is registered, with the target in its subject and the project left open", () => {
    const tool = defineTool({
      ...base,
      retry: "safe",
      timeoutSeconds: 5,
      queueTimeoutSeconds: 60,
      afterExecution: "terminate",
      pin: "strict",
      envs: { text: "SOME_TEXT" },
      options: { concurrency: 2, ui_allowed: true },
      run: () => 1,
    });
    expect(definitionOf(tool, { projectId: "demo", target: "text" })).toEqual({
      tool_name: "count_words",
      description: "Count the words of a text",
      parameters: tool.parameters,
      target_subject: "cg.v1r4.{project_id}.{channel_id}.cmd.tool.text.count_words",
      after_execution: "terminate",
      options: {
        retry: "safe",
        timeout_seconds: 5,
        queue_timeout_seconds: 60,
        pin: "strict",
        envs: { text: "SOME_TEXT" },
        concurrency: 2,
        ui_allowed: true,
      },
    });
  });

  test("a target that is not a token is refused", () => {
    expect(() => definitionOf(countWords, { projectId: "demo", target: "a.b" })).toThrow("target");
  });
});
