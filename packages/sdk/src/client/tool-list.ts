// A project's tools for a model, in the shapes that the `ai` package and the OpenAI and Anthropic APIs take. Shapes only: none
// of them is a dependency. Parameters that a tool's author manages are not shown (they are not the model's to fill).

import type { JsonObject, JsonValue } from "@toolplane/protocol";
import { modelToolSpec } from "@toolplane/protocol/agents";
import type { Body } from "./way.ts";

export interface ListedTool {
  readonly name: string;
  readonly description: string;
  /** JSON Schema. */
  readonly parameters: JsonObject;
}

/** A `tools` entry of the OpenAI chat completions API. */
export interface OpenAiTool {
  readonly type: "function";
  readonly function: ListedTool;
}

/** A `tools` entry of the Anthropic messages API. */
export interface AnthropicTool {
  readonly name: string;
  readonly description: string;
  readonly input_schema: JsonObject & { readonly type: "object" };
}

/** The `ai` package recognises its own schema objects by this symbol. */
const AI_SCHEMA = Symbol.for("vercel.ai.schema");

export interface AiSchema {
  readonly [AI_SCHEMA]: true;
  readonly _type: JsonObject;
  readonly jsonSchema: JsonObject;
  readonly validate: undefined;
}

/** An entry of the `ai` package's tool set. Running it is a durable call. */
export interface AiTool {
  readonly description: string;
  readonly inputSchema: AiSchema;
  execute(input: unknown, options?: { readonly abortSignal?: AbortSignal | undefined }): Promise<JsonValue>;
}

export interface ToolList {
  readonly list: readonly ListedTool[];
  /** For `generateText({ tools })` and its like. */
  ai(): Readonly<Record<string, AiTool>>;
  openai(): readonly OpenAiTool[];
  anthropic(): readonly AnthropicTool[];
}

export type RunTool = (name: string, args: unknown, signal: AbortSignal | undefined) => Promise<JsonValue>;

const aiSchema = (jsonSchema: JsonObject): AiSchema => ({
  [AI_SCHEMA]: true,
  // The property only carries a type, and no value.
  _type: undefined as unknown as JsonObject,
  jsonSchema,
  validate: undefined,
});

export const listForModels = (bodies: readonly Body[], run: RunTool): ToolList => {
  type Definition = Parameters<typeof modelToolSpec>[0];
  // The plane checked each definition before it was registered.
  const list = bodies.map((body) => modelToolSpec({ options: {}, ...body } as unknown as Definition).function);
  return {
    list,
    ai: () =>
      Object.fromEntries(
        list.map(({ name, description, parameters }) => [
          name,
          {
            description,
            inputSchema: aiSchema(parameters),
            execute: (input, { abortSignal } = {}) => run(name, input, abortSignal),
          } satisfies AiTool,
        ]),
      ),
    openai: () => list.map((tool) => ({ type: "function", function: tool })),
    anthropic: () =>
      list.map(({ name, description, parameters }) => ({
        name,
        description,
        input_schema: { ...parameters, type: "object" },
      })),
  };
};
