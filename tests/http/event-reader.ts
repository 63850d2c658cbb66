// Reads a stream of server-sent events until it says something, or ends.

import type { HttpStack } from "./http-stack.ts";

export interface EventReader {
  /** All that was read, once it holds the text or the stream has ended. */
  until(wanted: string): Promise<string>;
  /** All that was read, once there is more of it. */
  more(): Promise<string>;
  /** All that was read, once the stream has ended. */
  untilEnd(): Promise<string>;
  close(): Promise<void>;
}

export const readStream = (response: Response): EventReader => {
  const reader = (response.body as ReadableStream<Uint8Array>).getReader();
  let text = "";
  const readUntil = async (isEnough: () => boolean): Promise<string> => {
    while (!isEnough()) {
      const { value, done } = await reader.read();
      if (done) break;
      text += new TextDecoder().decode(value);
    }
    return text;
  };
  return {
    until: (wanted) => readUntil(() => text.includes(wanted)),
    more: () => {
      const before = text.length;
      return readUntil(() => text.length > before);
    },
    untilEnd: () => readUntil(() => false),
    close: () => reader.cancel(),
  };
};

export const openEvents = async (
  http: Pick<HttpStack, "raw">,
  /** Null: the headers say who asks. */
  token: string | null,
  headers: Readonly<Record<string, string>> = {},
  query = "",
): Promise<EventReader> => {
  const response = await http.raw(`/projects/demo/events${query === "" ? "" : `?${query}`}`, {
    headers: { ...(token === null ? {} : { authorization: `Bearer ${token}` }), ...headers },
  });
  if (response.status !== 200) throw new Error(`events: ${response.status} ${await response.text()}`);
  return readStream(response);
};
