// An answer with a list that may be long: each item is written separately, and after every few hundred kilobytes other requests
// get their turn.

import { setImmediate as breathe } from "node:timers/promises";
import type { Context } from "hono";

const AT_ONCE = 256 * 1024;

export const listText = async (items: readonly unknown[]): Promise<string> => {
  const texts: string[] = [];
  let length = 0;
  for (const item of items) {
    const text = JSON.stringify(item) ?? "null";
    texts.push(text);
    length += text.length;
    if (length <= AT_ONCE) continue;
    await breathe();
    length = 0;
  }
  return `[${texts.join(",")}]`;
};

/** The list under its name, followed by the rest. */
export const answerList = async (
  context: Context,
  name: string,
  items: readonly unknown[],
  rest: Readonly<Record<string, unknown>> = {},
): Promise<Response> => {
  const others = JSON.stringify(rest).slice(1);
  const body = `{${JSON.stringify(name)}:${await listText(items)}${others === "}" ? "}" : `,${others}`}`;
  return context.body(body, 200, { "Content-Type": "application/json" });
};
