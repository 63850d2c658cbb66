// The outcome of a call as an MCP tool result. Pure.
//   - A result that already is MCP content (`{content: [...]}`) is passed on block by block.
//   - A text becomes a text block; any other value becomes its JSON text, and an object is structured content as well.
//   - A failure is a tool error that says what went wrong and what to do, so that a model can act on it.

import { isRecord, type JsonObject, type JsonValue, stripControl } from "@toolplane/protocol";

export interface McpBlock {
  readonly type: string;
  readonly [key: string]: unknown;
}

export interface McpToolResult {
  readonly content: readonly McpBlock[];
  readonly structuredContent?: JsonObject;
  readonly isError?: true;
  readonly _meta?: JsonObject;
}

const isText = (value: unknown): value is string => typeof value === "string";

const isResource = (value: unknown): boolean =>
  isRecord(value) && isText(value.uri) && (isText(value.text) || isText(value.blob));

/** The kinds of content that the protocol has, and what each of them must hold. */
const BLOCKS: Readonly<Record<string, (block: Readonly<Record<string, unknown>>) => boolean>> = {
  text: (block) => isText(block.text),
  image: (block) => isText(block.data) && isText(block.mimeType),
  audio: (block) => isText(block.data) && isText(block.mimeType),
  resource: (block) => isResource(block.resource),
  resource_link: (block) => isText(block.uri) && isText(block.name),
};

const isBlock = (value: unknown): value is McpBlock =>
  isRecord(value) && isText(value.type) && Object.hasOwn(BLOCKS, value.type) && BLOCKS[value.type]?.(value) === true;

/** Whether a result has the form of an MCP tool result: then it is one, also when it came from another MCP server. */
const isMcpContent = (result: JsonValue): result is JsonObject & { readonly content: readonly McpBlock[] } =>
  isRecord(result) && Array.isArray(result.content) && result.content.length > 0 && result.content.every(isBlock);

const text = (words: string): McpBlock => ({ type: "text", text: words });

export const planContent = (given: JsonValue): McpToolResult => {
  const result = stripControl(given).value;
  if (result === null) return { content: [] };
  if (isText(result)) return { content: [text(result)] };
  if (isMcpContent(result)) {
    const { content, structuredContent, isError } = result;
    return {
      content,
      ...(isRecord(structuredContent) ? { structuredContent: structuredContent as JsonObject } : {}),
      ...(isError === true ? { isError: true } : {}),
    };
  }
  const content = [text(JSON.stringify(result))];
  return isRecord(result) ? { content, structuredContent: result as JsonObject } : { content };
};

export interface Failure {
  readonly code: string;
  readonly message: string;
  readonly detail?: unknown;
  readonly retryable?: boolean | undefined;
}

/** The error of a result card, which any tool may have written. */
export const readFailure = (error: unknown, status: string): Failure => {
  if (!isRecord(error)) return { code: status, message: isText(error) ? error : `the call ended as ${status}` };
  return {
    code: isText(error.code) ? error.code : status,
    message: isText(error.message) ? error.message : `the call ended as ${status}`,
    ...(error.detail === undefined ? {} : { detail: error.detail }),
    ...(typeof error.retryable === "boolean" ? { retryable: error.retryable } : {}),
  };
};

const adviceOf = ({ detail, retryable }: Failure): string => {
  const todo = isRecord(detail) && isText(detail.todo) ? `\nWhat to do: ${detail.todo}` : "";
  const seconds = isRecord(detail) ? detail.retry_after_seconds : undefined;
  const when = typeof seconds === "number" ? `in ${seconds} s` : "later";
  return retryable === true ? `${todo}\nThe same call may succeed ${when}.` : todo;
};

/** What a model reads of a failure. `partial` is what the tool had made before it failed. */
export const planFailure = (failure: Failure, partial: JsonValue = null): McpToolResult => ({
  content: [
    text(`${failure.code}: ${failure.message}${adviceOf(failure)}`),
    ...(partial === null ? [] : planContent(partial).content),
  ],
  isError: true,
  _meta: { "toolplane/error": JSON.parse(JSON.stringify(failure)) as JsonObject },
});
