// Decimal counts in headers and rows: turn epochs and recursion depths.

import { type ErrorDetail, violation } from "../errors/toolplane-error.ts";

/** Both are stored in 32-bit columns; a larger number is forged. */
const MAX_COUNT = 2_147_483_647;
const MAX_DIGITS = 10;

const parseDigits = (text: string): number => {
  if (text.length === 0 || text.length > MAX_DIGITS) return Number.NaN;
  let value = 0;
  for (let i = 0; i < text.length; i += 1) {
    const digit = text.charCodeAt(i) - 0x30;
    if (digit < 0 || digit > 9) return Number.NaN;
    value = value * 10 + digit;
  }
  return value;
};

/** A whole number that is not negative, given as a number or as decimal digits. */
export const parseCount = (value: unknown, name: string, detail?: ErrorDetail): number => {
  const count = typeof value === "string" ? parseDigits(value.trim()) : value;
  if (typeof count !== "number" || !Number.isInteger(count) || count < 0 || count > MAX_COUNT) {
    throw violation(`${name} is not a whole number of 0 or more`, detail);
  }
  return count === 0 ? 0 : count;
};

/** As above, and 0 when there is nothing: null, undefined or blank. */
export const parseCountOrZero = (value: unknown, name: string): number => {
  if (value === null || value === undefined) return 0;
  if (typeof value === "string" && value.trim() === "") return 0;
  return parseCount(value, name);
};
