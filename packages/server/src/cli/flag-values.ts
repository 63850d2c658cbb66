// Values of flags that several commands read in the same way.

import { WrongUsage } from "./wrong-usage.ts";

const MAX_PORT = 65_535;

export const parsePort = (text: string | undefined, command: string): number | undefined => {
  if (text === undefined) return undefined;
  const port = text.trim() === "" ? Number.NaN : Number(text);
  if (!Number.isInteger(port) || port < 0 || port > MAX_PORT)
    throw new WrongUsage(`--port takes a number from 0 (any free one) to ${MAX_PORT}, not "${text}"`, command);
  return port;
};

/** `a, b` as a list, without empty items. */
export const splitList = (list: string): readonly string[] =>
  list
    .split(",")
    .map((item) => item.trim())
    .filter((item) => item !== "");
