// Texts of a document that a model will read: cut to a length, without characters that a person cannot see.

import type { JsonValue } from "@toolplane/protocol";
import { findHiddenCharacter } from "@toolplane/protocol/registry";

export const cleanText = (value: JsonValue | undefined, maxLength: number): string => {
  if (typeof value !== "string") return "";
  const isCut = value.length > maxLength;
  // Cut first, so that the work is bounded by what is kept.
  let text = value.slice(0, maxLength).toWellFormed().replaceAll("\uFFFD", "").trim();
  for (let hidden = findHiddenCharacter(text); hidden !== undefined; hidden = findHiddenCharacter(text))
    text = text.slice(0, hidden.index) + text.slice(hidden.index + (hidden.codePoint > 0xffff ? 2 : 1));
  return isCut ? `${text} ...` : text;
};
