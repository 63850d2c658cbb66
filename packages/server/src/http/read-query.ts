// The query of a request. A key that the route does not take, or that is given twice, is refused by its name. If a filter were
// ignored, the caller would take the unfiltered list for the answer.

import { nearest, parseWith, refuseUnstorable, showName, ToolplaneError } from "@toolplane/protocol";
import { z } from "zod";

/** The keys that a route takes; none without a schema. */
const keysOf = (schema: z.ZodType | undefined): readonly string[] =>
  schema instanceof z.ZodObject ? Object.keys(schema.shape) : [];

/** The key that was probably meant: one with few letters changed, or one of which the word is the beginning or the end, or the reverse. */
const meantBy = (word: string, known: readonly string[]): string | undefined =>
  nearest(word, known) ??
  known.find((key) => key.startsWith(`${word}_`) || word.startsWith(`${key}_`)) ??
  known.find((key) => key.endsWith(`_${word}`) || word.endsWith(`_${key}`));

const refuse = (message: string, key: string): ToolplaneError =>
  new ToolplaneError("bad_request", `the query is not valid: ${message}`, {
    detail: { path: `$.${key.slice(0, 64)}` },
  });

const unknownKey = (key: string, known: readonly string[]): ToolplaneError => {
  const meant = meantBy(key, known);
  const question = meant === undefined ? "" : `; did you mean ${meant}?`;
  const takes = known.length === 0 ? "this route takes no query" : `this route takes ${known.join(", ")}`;
  return refuse(`unknown key ${showName(key)}${question}; ${takes}`, key);
};

/** What the query says, as the schema reads it; undefined without a schema. */
export const readQuery = (
  schema: z.ZodType | undefined,
  given: Readonly<Record<string, readonly string[]>>,
): unknown => {
  const known = keysOf(schema);
  for (const [key, values] of Object.entries(given)) {
    if (!known.includes(key)) throw unknownKey(key, known);
    if (values.length > 1) throw refuse(`${key} is given ${values.length} times; give it once`, key);
  }
  if (schema === undefined) return undefined;
  const query = Object.fromEntries(Object.entries(given).map(([key, [value = ""]]) => [key, value]));
  refuseUnstorable(query, "the query");
  return parseWith(schema, query, "the query");
};
