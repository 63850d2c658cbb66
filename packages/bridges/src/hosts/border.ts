// The border: every message of a host passes here before anything else reads it. Afterwards it holds none of the secrets that the
// host was given (I8, SEC-7), so the code behind it - cards, definitions, errors, GET /hosts, the log - need not remove them.
//   BO1. A state goes back to its host unchanged; the runner removes secrets from a state that is stored.
//   BO2. In definitions very short values are left alone: 1, eu and true occur in any schema, and the tool would be lost.
//   BO3. A line that cannot hold a secret is searched once, as text.

import type { JsonValue } from "@toolplane/protocol";
import type { HostMessage } from "@toolplane/protocol/host";
import { createScrubber, type Scrubber } from "@toolplane/sdk";

export interface Border extends Pick<Scrubber, "text" | "start"> {
  /** `line` is what the message was read from, `method` the request it is about. */
  message(line: string, message: HostMessage, method: string | undefined): HostMessage;
}

/** Values this short are matched in texts only where they stand alone (secret-forms); BO2 is about the same values. */
const LEAST_IN_DEFINITION = 5;

/** The answers to these methods become part of definitions. */
const DEFINING: ReadonlySet<string> = new Set([
  "get_tool_schemas",
  "get_config_schema",
  "get_tags",
  "required_tags",
  "get_ui_elements",
]);

const isNumber = (text: string): boolean => Number.isFinite(Number(text));

/**
 * Whether a search of the line shows that it holds no secret. An escape (`\u0041`, `\/`, `%2f`) could hide one, and so could a number
 * in another notation (`1e3`). Line ends are escaped in most lines; only a secret of several lines could hide behind those.
 */
const createQuickLook = ({ forms }: Scrubber): ((line: string) => boolean) => {
  const texts = forms.map(({ text }) => text);
  if (texts.some((text) => isNumber(text) || /[\n\r\t]/u.test(text))) return () => false;
  return (line) => !/\\[^nrt]|%/.test(line) && !texts.some((text) => line.includes(text));
};

export const createBorder = (secrets: ReadonlyMap<string, string>): Border => {
  const scrubber = createScrubber(secrets);
  const { text, start } = scrubber;
  if (scrubber.forms.length === 0) return { text, start, message: (_line, message) => message };
  const long = new Map([...secrets].filter(([, value]) => value.length >= LEAST_IN_DEFINITION));
  const definitions = createScrubber(long);
  const isClean = createQuickLook(scrubber);

  const cleanValue = (value: JsonValue, method: string | undefined): JsonValue => {
    if (method === "init") return value;
    return (method !== undefined && DEFINING.has(method) ? definitions : scrubber).value(value);
  };

  return {
    text,
    start,
    message: (line, message, method) => {
      if (isClean(line)) return message;
      if (message.kind === "request") return { ...message, method: text(message.method) };
      if (message.kind === "event") {
        const { type, payload } = message.event;
        return { ...message, event: { type, payload: scrubber.value(payload) } };
      }
      if (message.ok) return { ...message, value: cleanValue(message.value, method) };
      const { type, detail, stack } = message.error;
      const error = { type: text(type), detail: text(detail), ...(stack === undefined ? {} : { stack: text(stack) }) };
      return { ...message, error };
    },
  };
};
