// One way to ask the API: JSON in and out, with the session's cookie, and every failure an ApiProblem.

import { ApiProblem, awayProblem, parseProblem } from "./problem.ts";

export interface Asked {
  readonly method?: "GET" | "POST" | "PATCH" | "DELETE";
  readonly body?: unknown;
  /** The body as JSON text, where the caller has written it; instead of `body`. */
  readonly text?: string;
  readonly signal?: AbortSignal | undefined;
}

/** `projectPath("demo", "calls", id)`: ids may hold any character. */
export const projectPath = (project: string, ...parts: readonly string[]): string =>
  `/projects/${[project, ...parts].map(encodeURIComponent).join("/")}`;

export const withQuery = (path: string, query: Readonly<Record<string, string | number | undefined>>): string => {
  const given = Object.entries(query).filter(([, value]) => value !== undefined && value !== "");
  const text = new URLSearchParams(given.map(([name, value]) => [name, String(value)])).toString();
  return text === "" ? path : `${path}?${text}`;
};

const isAbort = (thrown: unknown): boolean => thrown instanceof DOMException && thrown.name === "AbortError";

export const request = async <Answer>(path: string, asked: Asked = {}): Promise<Answer> => {
  const { method = "GET", signal } = asked;
  const body = asked.text ?? (asked.body === undefined ? undefined : JSON.stringify(asked.body));
  const response = await fetch(path, {
    method,
    credentials: "same-origin",
    redirect: "error",
    headers: {
      accept: "application/json",
      ...(body === undefined ? {} : { "content-type": "application/json" }),
    },
    ...(body === undefined ? {} : { body }),
    ...(signal === undefined ? {} : { signal }),
  }).catch((thrown: unknown) => {
    throw isAbort(thrown) ? thrown : awayProblem();
  });
  const text = await response.text();
  if (!response.ok) throw parseProblem(response.status, text);
  if (text === "") return undefined as Answer;
  try {
    return JSON.parse(text) as Answer;
  } catch {
    throw new ApiProblem({ code: "not_json", message: "The server's answer is not JSON.", status: response.status });
  }
};

export interface Page<Item> {
  readonly items: readonly Item[];
  readonly next_cursor: string | null;
}
