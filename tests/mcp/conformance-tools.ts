// The tools that the protocol's own test suite expects of a server, as ordinary tools: functions that are served by a tool service
// and know nothing of MCP. Names, texts and schemas are the suite's.

import { setTimeout as sleep } from "node:timers/promises";
import type { JsonObject, JsonValue, ToolOptions } from "@toolplane/protocol";
import { defineTool, type Tool, type ToolContext, ToolError } from "@toolplane/sdk";

type Responses = Readonly<Record<string, JsonObject>>;

interface Asked {
  readonly responses: Responses;
  readonly state: JsonObject | undefined;
}

type Run = (args: JsonObject, asked: Asked, context: ToolContext) => unknown;

const IMAGE = "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mP8z8DwHwAFBQIAX8jx0gAAAABJRU5ErkJggg==";
const SOUND = "UklGRiYAAABXQVZFZm10IBAAAAABAAEAQB8AAAB9AAACABAAZGF0YQIAAAA=";

const content = (...blocks: readonly JsonObject[]) => ({ content: blocks });
const text = (words: string): JsonObject => ({ type: "text", text: words });
const say = (words: string) => content(text(words));

const ask = (requests: Readonly<Record<string, JsonObject>>, state?: JsonValue) => ({
  __cg_input: { requests, ...(state === undefined ? {} : { state }) },
});

const elicit = (message: string, properties: JsonObject, required: readonly string[] = []): JsonObject => ({
  method: "elicitation/create",
  params: { message, requestedSchema: { type: "object", properties, required: [...required] } },
});

const sample = (words: string): JsonObject => ({
  method: "sampling/createMessage",
  params: { messages: [{ role: "user", content: text(words) }], maxTokens: 100 },
});

const ROOTS: JsonObject = { method: "roots/list", params: {} };

const fieldOf = (answer: JsonObject | undefined, name: string): unknown =>
  (answer?.content as JsonObject | undefined)?.[name];

const STRING: JsonObject = { type: "string" };
const NAME = elicit("What is your name?", { name: STRING }, ["name"]);
const CONFIRM = elicit("Please confirm", { ok: { type: "boolean" } }, ["ok"]);

/** A tool that may ask: the answers come in its parameter `answers`. */
const tool = (name: string, run: Run, more: { parameters?: JsonObject; options?: ToolOptions } = {}): Tool => {
  const { parameters = {}, options = {} } = more;
  const properties = (parameters.properties as JsonObject | undefined) ?? {};
  return defineTool({
    name,
    description: `Tool ${name} of the conformance suite`,
    parameters: {
      ...parameters,
      type: "object",
      properties: { ...properties, answers: { type: "object" } },
    } as { readonly type: "object" },
    options: { input: "answers", ...options },
    timeoutSeconds: 120,
    run: (given, context) => {
      const { answers, ...args } = given as JsonObject;
      const said = (answers ?? {}) as { responses?: Responses; state?: JsonObject };
      return run(args, { responses: said.responses ?? {}, state: said.state }, context);
    },
  });
};

const strings = (...names: readonly string[]): JsonObject => ({
  properties: Object.fromEntries(names.map((name) => [name, STRING])),
});

const contentTools: readonly Tool[] = [
  tool("test_simple_text", () => "This is a simple text response for testing."),
  tool("test_image_content", () => content({ type: "image", data: IMAGE, mimeType: "image/png" })),
  tool("test_audio_content", () => content({ type: "audio", data: SOUND, mimeType: "audio/wav" })),
  tool("test_embedded_resource", () =>
    content({
      type: "resource",
      resource: {
        uri: "test://embedded-resource",
        mimeType: "text/plain",
        text: "This is an embedded resource content.",
      },
    }),
  ),
  tool("test_multiple_content_types", () =>
    content(
      text("Multiple content types test:"),
      { type: "image", data: IMAGE, mimeType: "image/png" },
      {
        type: "resource",
        resource: { uri: "test://mixed", mimeType: "application/json", text: '{"test":"data","value":123}' },
      },
    ),
  ),
  tool("test_tool_with_logging", async (_args, _asked, { emit }) => {
    for (const data of ["Tool execution started", "Tool processing data", "Tool execution completed"]) {
      emit({ log: { level: "info", data } });
      await sleep(50);
    }
    return "Tool with logging executed successfully";
  }),
  tool("test_tool_with_progress", async (_args, _asked, { emit }) => {
    for (const progress of [0, 50, 100]) {
      emit({ progress: progress + 1, total: 101, message: `Completed step ${progress} of 100` });
      await sleep(50);
    }
    return "done";
  }),
  tool("test_error_handling", () => {
    throw new ToolError("tool_error", "This tool intentionally returns an error for testing");
  }),
  tool("test_streaming_elicitation", async (_args, _asked, { emit }) => {
    emit({ progress: 50, total: 100 });
    await sleep(50);
    return "Streaming complete";
  }),
  tool("test_logging_tool", (_args, _asked, { emit }) => {
    emit({ log: { level: "info", data: "Diagnostic trace" } });
    return "Logging evaluated";
  }),
];

const pushTools: readonly Tool[] = [
  tool(
    "test_sampling",
    ({ prompt }, { responses }) =>
      responses.sample === undefined
        ? ask({ sample: sample(String(prompt)) })
        : say(`LLM response: ${String(fieldOf(responses.sample, "text"))}`),
    { parameters: strings("prompt") },
  ),
  tool(
    "test_elicitation",
    ({ message }, { responses }) =>
      responses.user === undefined
        ? ask({
            user: elicit(String(message), { response: { ...STRING, description: "User's response" } }, ["response"]),
          })
        : say(`User response: ${JSON.stringify(responses.user)}`),
    { parameters: strings("message") },
  ),
  tool("test_elicitation_sep1034_defaults", (_args, { responses }) =>
    responses.form === undefined
      ? ask({
          form: elicit("Please review and update the form fields with defaults", {
            name: { ...STRING, description: "User name", default: "John Doe" },
            age: { type: "integer", description: "User age", default: 30 },
            score: { type: "number", description: "User score", default: 95.5 },
            status: { ...STRING, enum: ["active", "inactive", "pending"], default: "active" },
            verified: { type: "boolean", description: "Verification status", default: true },
          }),
        })
      : say(`Elicitation completed: ${JSON.stringify(responses.form)}`),
  ),
  tool("test_elicitation_sep1330_enums", (_args, { responses }) =>
    responses.form === undefined
      ? ask({
          form: elicit("Please select options from the enum fields", {
            untitledSingle: { ...STRING, enum: ["option1", "option2", "option3"] },
            titledSingle: {
              ...STRING,
              oneOf: [
                { const: "value1", title: "First Option" },
                { const: "value2", title: "Second Option" },
                { const: "value3", title: "Third Option" },
              ],
            },
            legacyEnum: {
              ...STRING,
              enum: ["opt1", "opt2", "opt3"],
              enumNames: ["Option One", "Option Two", "Option Three"],
            },
            untitledMulti: {
              type: "array",
              minItems: 1,
              maxItems: 3,
              items: { ...STRING, enum: ["option1", "option2", "option3"] },
            },
            titledMulti: {
              type: "array",
              minItems: 1,
              maxItems: 3,
              items: {
                anyOf: [
                  { const: "value1", title: "First Choice" },
                  { const: "value2", title: "Second Choice" },
                  { const: "value3", title: "Third Choice" },
                ],
              },
            },
          }),
        })
      : say(`Elicitation completed: ${JSON.stringify(responses.form)}`),
  ),
];

const roundTools: readonly Tool[] = [
  tool("test_missing_capability", (_args, { responses }) =>
    responses.sample === undefined ? ask({ sample: sample("Anything") }) : say("Success"),
  ),
  tool("test_input_required_result_elicitation", (_args, { responses }) =>
    responses.user_name === undefined
      ? ask({ user_name: NAME })
      : say(`Hello, ${String(fieldOf(responses.user_name, "name"))}!`),
  ),
  tool("test_input_required_result_sampling", (_args, { responses }) =>
    responses.capital_question === undefined
      ? ask({ capital_question: sample("What is the capital of France?") })
      : say(`Sampling result: ${JSON.stringify(responses.capital_question.content)}`),
  ),
  tool("test_input_required_result_list_roots", (_args, { responses }) =>
    responses.client_roots === undefined
      ? ask({ client_roots: ROOTS })
      : say(`Found ${(responses.client_roots.roots as readonly unknown[]).length} root(s)`),
  ),
  tool("test_input_required_result_request_state", (_args, { responses, state }) =>
    responses.confirm === undefined || state?.kind !== "request-state"
      ? ask({ confirm: CONFIRM }, { kind: "request-state" })
      : say("state-ok: requestState validated"),
  ),
  tool("test_input_required_result_multiple_inputs", (_args, { responses }) =>
    responses.user_name === undefined || responses.greeting === undefined || responses.client_roots === undefined
      ? ask({ user_name: NAME, greeting: sample("Generate a greeting"), client_roots: ROOTS })
      : say(`Name: ${String(fieldOf(responses.user_name, "name"))}`),
  ),
  tool("test_input_required_result_multi_round", (_args, { responses, state }) => {
    if (responses.step2 !== undefined && typeof state?.name === "string")
      return say(`Multi-round complete for ${state.name} who likes ${String(fieldOf(responses.step2, "color"))}`);
    if (responses.step1 !== undefined)
      return ask(
        { step2: elicit("Step 2: What is your favorite color?", { color: STRING }, ["color"]) },
        { name: String(fieldOf(responses.step1, "name")) },
      );
    return ask({ step1: elicit("Step 1: What is your name?", { name: STRING }, ["name"]) });
  }),
  tool("test_input_required_result_tampered_state", (_args, { responses }) =>
    responses.confirm === undefined ? ask({ confirm: CONFIRM }, { kind: "tamper-test" }) : say("integrity-ok"),
  ),
  tool("test_input_required_result_capabilities", (_args, { responses }) =>
    Object.keys(responses).length === 0
      ? ask({
          elicit_input: elicit("Elicitation input", { value: STRING }, ["value"]),
          sample_input: sample("Sample request"),
        })
      : say(`capabilities-ok: received ${Object.keys(responses).join(",")}`),
  ),
];

const taskTools: readonly Tool[] = [
  tool("greet", ({ name }) => `Hello, ${String(name)}!`, { parameters: strings("name") }),
  tool(
    "slow_compute",
    async ({ seconds }, _asked, { signal }) => {
      await sleep(Number(seconds ?? 0) * 1_000, undefined, { signal });
      return `computed for ${String(seconds)} seconds`;
    },
    {
      parameters: { properties: { seconds: { type: "number" }, label: STRING } },
      options: { task: "preferred" },
    },
  ),
  tool(
    "failing_job",
    () => {
      throw new ToolError("tool_error", "the job failed");
    },
    { options: { task: "required" } },
  ),
  tool(
    "protocol_error_job",
    () => {
      throw new ToolError("internal_error", "the job could not be run");
    },
    { options: { task: "preferred" } },
  ),
  tool(
    "confirm_delete",
    ({ filename }, { responses }) =>
      responses.confirm === undefined
        ? ask({ confirm: elicit(`Delete ${String(filename)}?`, { confirm: { type: "boolean" } }, ["confirm"]) })
        : say(`deleted ${String(filename)}`),
    { parameters: strings("filename"), options: { task: "preferred" } },
  ),
  tool(
    "multi_input",
    (_args, { responses }) =>
      responses.first === undefined || responses.second === undefined
        ? ask({ first: NAME, second: NAME })
        : say(`got ${Object.keys(responses).join(" and ")}`),
    { options: { task: "preferred" } },
  ),
  tool("test_tool_with_task", async (_args, { responses }) => {
    if (responses.user_name === undefined) return ask({ user_name: NAME });
    // Longer than a client waits for a result before it gets a task.
    await sleep(2_000);
    return say(`Hello, ${String(fieldOf(responses.user_name, "name"))}!`);
  }),
];

const schemaTool = defineTool({
  name: "json_schema_2020_12_tool",
  description: "Tool with JSON Schema 2020-12 features",
  parameters: {
    $schema: "https://json-schema.org/draft/2020-12/schema",
    type: "object",
    $defs: {
      address: { $anchor: "addressDef", type: "object", properties: { street: STRING, city: STRING } },
    },
    properties: {
      name: STRING,
      address: { $ref: "#/$defs/address" },
      contactMethod: { type: "string", enum: ["phone", "email"] },
      phone: STRING,
      email: STRING,
    },
    allOf: [{ anyOf: [{ required: ["phone"] }, { required: ["email"] }] }],
    if: { properties: { contactMethod: { const: "phone" } }, required: ["contactMethod"] },
    // biome-ignore lint/suspicious/noThenProperty: a keyword of JSON Schema
    then: { required: ["phone"] },
    else: { required: ["email"] },
    additionalProperties: false,
  } as { readonly type: "object" },
  run: () => "ok",
});

const headerTool = tool("test_header_parameters", ({ region }) => say(`region ${String(region)}`), {
  parameters: {
    properties: { region: { type: "string", "x-mcp-header": "Region" }, query: STRING },
    required: ["region"],
  },
});

/** `changeTools` makes the list of tools another one. */
export const conformanceTools = (changeTools: () => Promise<void>): readonly Tool[] => [
  ...contentTools,
  ...pushTools,
  ...roundTools,
  ...taskTools,
  schemaTool,
  headerTool,
  tool("test_trigger_tool_change", async () => {
    await changeTools();
    return "Mutation triggered";
  }),
];
