// The system prompt of a step. Known placeholders are filled in once; everything else in braces is the author's text, for
// example an unknown name or a JSON example (W-35): no template can make a step fail.

import { showName } from "@toolplane/protocol";
import type { ResultField } from "@toolplane/protocol/agents";

export const PROMPT_PLACEHOLDERS = [
  "downstream_profiles_desc",
  "downstream_roster",
  "downstream_desc",
  "display_name",
] as const;

export type PromptPlaceholder = (typeof PROMPT_PLACEHOLDERS)[number];
export type PromptValues = Readonly<Partial<Record<PromptPlaceholder, string>>>;

/** A name that an agent may have chosen for another one: quoted when it is more than a word, on one line, and cut when it is long. */
export const promptName = (name: string): string => showName(name.replaceAll(/\s+/g, " "));

const LONGEST = Math.max(...PROMPT_PLACEHOLDERS.map((name) => name.length));

const placeholderValue = (name: string, values: PromptValues): string | undefined =>
  (PROMPT_PLACEHOLDERS as readonly string[]).includes(name) ? values[name as PromptPlaceholder] : undefined;

/** A placeholder without a value is kept like an unknown one: a hole in a sentence would not say what is missing. */
export const fillPlaceholders = (template: string, values: PromptValues): string => {
  let filled = "";
  let from = 0;
  for (let at = template.indexOf("{"); at >= 0; at = template.indexOf("{", at + 1)) {
    const end = template.slice(at, at + LONGEST + 2).indexOf("}");
    const value = end < 0 ? undefined : placeholderValue(template.slice(at + 1, at + end), values);
    if (value === undefined) continue;
    filled += template.slice(from, at) + value;
    from = at + end + 1;
  }
  return filled + template.slice(from);
};

const fieldLine = ({ name, description = "" }: ResultField): string =>
  description === "" ? `- ${name}` : `- ${name}: ${description}`;

export interface SystemPromptInput {
  readonly template: string;
  readonly values?: PromptValues | undefined;
  readonly resultFields?: readonly ResultField[] | undefined;
}

export const renderSystemPrompt = ({ template, values = {}, resultFields = [] }: SystemPromptInput): string => {
  const fields = resultFields.length === 0 ? "" : `Required result fields:\n${resultFields.map(fieldLine).join("\n")}`;
  return [fillPlaceholders(template, values), fields].filter((part) => part.trim() !== "").join("\n\n");
};
