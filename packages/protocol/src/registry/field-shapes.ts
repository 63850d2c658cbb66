// Shapes shared by the rows of the registry. Ids that become subject tokens are checked as tokens here: a dot or a wildcard in
// one would change who receives a message (W-31).

import { z } from "zod";
import { isToken } from "../subjects/token.ts";
import { findHiddenCharacter } from "../tools/hidden-characters.ts";

/** An agent id made from a profile box and a UUID has 69 characters. */
const MAX_ID_LENGTH = 128;
const MAX_NAME_LENGTH = 128;
const MAX_TEXT_LENGTH = 1024;
const MAX_TAGS = 64;

export const subjectToken = z
  .string()
  .max(MAX_ID_LENGTH)
  .refine(isToken, "must be one or more of the characters A-Z a-z 0-9 _ -");

const isReadable = (text: string): boolean => findHiddenCharacter(text) === undefined;

/** Text that people read in lists, without control characters. Cards of an earlier version may hold line ends in it. */
export const displayText = z
  .string()
  .trim()
  .min(1)
  .max(MAX_TEXT_LENGTH)
  .refine(isReadable, "has an invisible or bidi character");

export const displayName = displayText.max(MAX_NAME_LENGTH);

const isOneLine = (text: string): boolean => !/[\t\n\r\u2028\u2029]/.test(text);

/** The name of an agent: other agents can choose it, and it stands in system prompts. A second line there would read as a rule. */
export const agentName = displayName.refine(isOneLine, "must be one line: it has a line end or a tab");

const keepFirst = (tags: readonly string[]): readonly string[] => [...new Set(tags)];

export const tagList = z.array(displayName).max(MAX_TAGS).transform(keepFirst);

/** In a file people also write `tags: research, writing`. */
export const tagsUpload = z.preprocess(
  (value) =>
    typeof value === "string"
      ? value
          .split(",")
          .map((tag) => tag.trim())
          .filter((tag) => tag !== "")
      : value,
  tagList,
);

/** Uploads of the registry are small documents; a prompt is the longest part. */
export const REGISTRY_CAPS = { maxBytes: 512 * 1024, maxDepth: 32 } as const;
