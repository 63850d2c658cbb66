// Requests with nothing but `fetch`, as somebody without the sdk would make them.

import type { Json } from "./habits.ts";

export interface ServiceConnection {
  readonly url: string;
  readonly token: string;
  readonly projectId: string;
  readonly target: string;
}

export interface Answer {
  readonly status: number;
  /** Undefined when it is not JSON. */
  readonly body: unknown;
}

export interface PlainClient {
  /** Status 0: nobody answered. */
  send(
    method: "GET" | "POST",
    path: string,
    body?: Json,
    options?: { readonly headers?: Readonly<Record<string, string>>; readonly signal?: AbortSignal },
  ): Promise<Answer>;
}

const parse = (text: string): unknown => {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
};

export const createPlainClient = (
  { url, projectId }: ServiceConnection,
  authorization: Readonly<Record<string, string>>,
  stopped: AbortSignal,
): PlainClient => ({
  async send(method, path, body, { headers = {}, signal = stopped } = {}) {
    try {
      const response = await fetch(`${url}/projects/${projectId}${path}`, {
        method,
        headers: { "content-type": "application/json", ...authorization, ...headers },
        signal: AbortSignal.any([signal, stopped]),
        ...(body === undefined ? {} : { body: JSON.stringify(body) }),
      });
      return { status: response.status, body: parse(await response.text()) };
    } catch {
      return { status: 0, body: undefined };
    }
  },
});
