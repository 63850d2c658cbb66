// The border: every word of a host passes here before anything else reads it. What has passed holds none of the secrets the
// host was given (I8, SEC-7), so nothing behind it - cards, definitions, errors, GET /hosts, the log - has to think of them.
//   BO1. A state goes back to the host it came from, and stays as it is; the runner removes secrets from one that is stored.
//   BO2. In definitions very short values are left alone: 1, eu and true are words of any schema, and a tool would be lost.
//   BO3. A line that cannot hold a secret is looked at once, as the text it came as.

import type { JsonValue } from "@toolplane/protocol";
import type { HostMessage } from "@toolplane/protocol/host";
import { createScrubber, type Scrubber } from "@toolplane/sdk";

export interface Border extends Pick<Scrubber, "text" | "start"> {
  /** `line` is what the message was read from, `method` the request it is about. */
  message(line: string, message: HostMessage, method: string | undefined): HostMessage;
}

/** As short as this a value is matched in texts only where it stands alone (secret-forms); BO2 is about the same ones. */
const LEAST_IN_DEFINITION = 5;

/** What these are answered with becomes part of definitions. */
const DEFINING: ReadonlySet<string> = new Set([
  "get_tool_schemas",
  "get_config_schema",
  "get_tags",
  "required_tags",
  "get_ui_elements",
]);

const isNumber = (text: string): boolean => Number.isFinite(Number(text));

/**
 * Whether one look at the line shows that it has no secret. Escapes that other writers than ours use (`\u0041`, `\/`) could
 * hide one, and so could a number written in another way (`1e3`).
 */
const createQuickLook = ({ forms }: Scrubber): ((line: string) => boolean) => {
  const texts = forms.map(({ text }) => text);
  if (texts.some(isNumber)) return () => false;
  // A pattern: looking for "\\u" as a text takes ten times as long in a line of backslashes.
  return (line) => !/\\[u/]/.test(line) && !texts.some((text) => line.includes(text));
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
      const { type, detail } = message.error;
      return { ...message, error: { type: text(type), detail: text(detail) } };
    },
  };
};
