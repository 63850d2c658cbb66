// An answer of the HTTP API, for tests that look into bodies of many shapes.

export interface Answer {
  readonly status: number;
  readonly headers: Headers;
  // biome-ignore lint/suspicious/noExplicitAny: the one place; what a body holds is what the test expects of it
  readonly body: any;
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
