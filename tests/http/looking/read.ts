// Short readers of lists, for tests that look at ids.

import type { AnswerBody } from "@toolplane/testkit";
import type { HttpStack } from "../http-stack.ts";

export const idOf =
  (key: string) =>
  (item: AnswerBody | undefined): unknown =>
    (item as unknown as Readonly<Record<string, unknown>>)[key];

export const callsOf = async (http: HttpStack, query: string, token?: string) => {
  const asked = token === undefined ? {} : { token };
  const { body } = await http.send("GET", `/projects/demo/calls?${query}`, undefined, asked);
  return { ids: body.items.map(({ tool_call_id }) => tool_call_id), next: body.next_cursor };
};
