// One subject token, and the names derived from ids that are not tokens.
// A token is `[A-Za-z0-9_-]+`: an id with a dot would move every later token by one, and a wildcard or a blank would
// change who receives the message, so ids are checked here before they come near a subject.

import { violation } from "../errors/toolplane-error.ts";

/** 1 for `[A-Za-z0-9_-]`; a table because this runs for each character of each message's subject. */
const TOKEN_CODES: Uint8Array = (() => {
  const table = new Uint8Array(128);
  for (const char of "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789_-") table[char.charCodeAt(0)] = 1;
  return table;
})();

export const isTokenCode = (code: number): boolean => code < 128 && TOKEN_CODES[code] === 1;

export const isToken = (value: unknown): value is string => {
  if (typeof value !== "string" || value === "") return false;
  for (let i = 0; i < value.length; i += 1) {
    if (!isTokenCode(value.charCodeAt(i))) return false;
  }
  return true;
};

export const parseToken = (value: unknown, name: string): string => {
  if (!isToken(value)) throw violation(`${name} is not one subject token of the characters A-Z a-z 0-9 _ -`);
  return value;
};

/** Labels of durables and queues: every run of other characters becomes one `_`, and nothing becomes `_`. */
export const durableLabel = (text: string): string => {
  let label = "";
  let inRun = false;
  for (let i = 0; i < text.length; i += 1) {
    if (isTokenCode(text.charCodeAt(i))) {
      label += text[i];
      inRun = false;
    } else if (!inRun) {
      label += "_";
      inRun = true;
    }
  }
  return label === "" ? "_" : label;
};

const TRUSTED_PREFIXES = ["sys.", "tool."] as const;

/** `sys.` and `tool.` ids are actors of the plane itself; they have no row in the roster. */
export const isTrustedActor = (agentId: string): boolean =>
  TRUSTED_PREFIXES.some((prefix) => agentId.startsWith(prefix) && agentId.length > prefix.length);

/**
 * The token under which an agent's lossy streams run. An agent's id is its own token; a dotted actor such as `sys.api`
 * appears as `sys_api`, or a direct call could not stream anything. Streams carry the call's ids in their payload, so
 * the label need not be reversible.
 */
export const streamToken = (agentId: string): string =>
  isTrustedActor(agentId) ? durableLabel(agentId) : parseToken(agentId, "agent_id");

const TOOL_PREFIX = "tool.";

/** The gateway token of a tool service's actor: `tool.text` is `text`. */
export const actorToken = (actor: string): string =>
  parseToken(actor.startsWith(TOOL_PREFIX) ? actor.slice(TOOL_PREFIX.length) : actor, "actor");
