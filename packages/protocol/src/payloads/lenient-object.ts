// Messages from other programs write an absent optional field as null; for us both mean "not given".

import type { z } from "zod";
import { parseWith } from "../errors/parse-with.ts";
import { isRecord } from "../json/json-value.ts";

const withoutNulls = (input: unknown): unknown => {
  if (!isRecord(input)) return input;
  let hasNull = false;
  for (const key in input) {
    if (input[key] === null) hasNull = true;
  }
  if (!hasNull) return input;
  return Object.fromEntries(Object.entries(input).filter(([, value]) => value !== null));
};

/** Parses a message whose optional fields may be null and whose unknown fields are ignored. */
export const parseLenient = <S extends z.ZodType>(schema: S, input: unknown, what: string): z.output<S> =>
  parseWith(schema, withoutNulls(input), what);
