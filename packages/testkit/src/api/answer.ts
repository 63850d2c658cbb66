// An answer of the HTTP API, for tests that look into bodies of many shapes.

import type { WireError } from "@toolplane/protocol";

/**
 * The fields of the API's bodies that tests read, named once, so that the compiler finds a name that no answer has. The test
 * itself expects which of them an answer holds.
 */
export type AnswerBody = {
  readonly items: readonly AnswerBody[];
  readonly commands: readonly AnswerBody[];
  readonly warnings?: readonly string[];
  readonly next_cursor: string;
  readonly error: WireError;
  readonly status: string;
  readonly why: string;
  readonly lease: { readonly id: string };
  readonly headers: Readonly<Record<string, string>>;
  readonly subject: string;
  readonly payload: object;
  readonly metadata: {
    readonly agent_turn_id: string;
    readonly step_id: string;
    readonly trace_id: string;
    readonly definition_hash: string;
  };
  readonly content: { readonly arguments: unknown };
  readonly diagnostics: { readonly name: string; readonly message: string; readonly stack: string };
  readonly holder: string;
  readonly tool_name: string;
  readonly token: string;
  readonly label: string;
  readonly definition_hash: string;
  readonly token_id: string;
  readonly agent_turn_id: string;
  readonly tool_call_id: string;
  readonly tool_call_card_id: string;
  readonly tool_result_card_id: string;
  readonly profile_box_id: string;
  readonly project_id: string;
  readonly trace_id: string;
  readonly title: string;
  readonly description: string | null;
  readonly parameters: unknown;
  readonly options: unknown;
  readonly owner_agent_id: string | null;
  readonly card_ids: readonly string[];
  readonly deliverable: unknown;
  readonly result: unknown;
  readonly session: unknown;
  readonly revoked_at: string | null;
  readonly bus_connected: boolean;
  readonly arguments: unknown;
  readonly instruction: string;
  readonly step_count: number;
  readonly steps: readonly { readonly tool_call_ids: readonly string[] }[];
  readonly tree: readonly unknown[];
  readonly facts: { readonly arguments: unknown; readonly running: number; readonly ahead: number };
  readonly act: string;
  readonly code: string;
  readonly webhook_id: string;
  readonly delivery_id: string;
  readonly event: string;
  readonly attempts: number;
  readonly detail: Readonly<Record<string, unknown>>;
  readonly pending: { readonly version: number; readonly changes: readonly unknown[] };
};

export interface Answer {
  readonly status: number;
  readonly headers: Headers;
  readonly body: AnswerBody;
}

export const readAnswer = async (response: Response): Promise<Answer> => {
  const text = await response.text();
  const { status, headers } = response;
  return { status, headers, body: text === "" ? undefined : JSON.parse(text) };
};

export interface Asked {
  readonly method: string;
  readonly path: string;
  readonly body?: unknown;
  readonly headers?: Readonly<Record<string, string>> | undefined;
}

/** One request to a server that runs, with a token. */
export const askApi = async (
  { url, token }: { readonly url: string; readonly token: string },
  { method, path, body, headers = {} }: Asked,
): Promise<Answer> => {
  const content = body === undefined ? {} : { body: JSON.stringify(body) };
  const type = body === undefined ? {} : { "content-type": "application/json" };
  const response = await fetch(url + path, {
    method,
    headers: { authorization: `Bearer ${token}`, ...type, ...headers },
    ...content,
  });
  return readAnswer(response);
};
