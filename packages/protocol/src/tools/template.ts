// String values of args.defaults and args.fixed may name ids of the call: "{agent_turn_id}".
// Only the listed variables exist; anything else is refused when the tool is registered, so a call never meets an
// unknown one (SEC-8). `{{` and `}}` write a brace. Values are rendered once: a brace inside an id stays as it is.

import { ToolplaneError } from "../errors/toolplane-error.ts";

/** The ten of the protocol, then the three lineage ids the engine also knows. */
export const TEMPLATE_VARIABLES = [
  "project_id",
  "channel_id",
  "agent_id",
  "agent_turn_id",
  "turn_epoch",
  "step_id",
  "tool_call_id",
  "trace_id",
  "parent_step_id",
  "context_box_id",
  "recursion_depth",
  "parent_agent_id",
  "parent_agent_turn_id",
] as const;

export type TemplateVariable = (typeof TEMPLATE_VARIABLES)[number];
export type TemplateValues = Readonly<Partial<Record<TemplateVariable, string | number | null | undefined>>>;

const KNOWN: ReadonlySet<string> = new Set(TEMPLATE_VARIABLES);

export const isTemplateVariable = (name: string): name is TemplateVariable => KNOWN.has(name);

const refused = (at: string, message: string, detail: Readonly<Record<string, unknown>>): ToolplaneError =>
  new ToolplaneError("bad_request", `${at}: ${message}`, { detail: { path: at, ...detail } });

const DOUBLING_HINT = "write {{ and }} for literal braces";

/** Walks the text once; `onText` and `onVariable` are called in order. Throws on anything that is not a known variable. */
const scan = (
  text: string,
  at: string,
  onText: (piece: string) => void,
  onVariable: (name: TemplateVariable) => void,
): void => {
  let from = 0;
  for (let i = 0; i < text.length; i++) {
    const char = text[i];
    if (char !== "{" && char !== "}") continue;
    if (text[i + 1] === char) {
      onText(text.slice(from, i + 1));
      i++;
      from = i + 1;
      continue;
    }
    if (char === "}") throw refused(at, `"}" without "{"; ${DOUBLING_HINT}`, { index: i });
    const end = text.indexOf("}", i);
    if (end === -1) throw refused(at, `"{" without "}"; ${DOUBLING_HINT}`, { index: i });
    const name = text.slice(i + 1, end);
    if (!isTemplateVariable(name)) {
      const shown = name.length > 40 ? `${name.slice(0, 40)}...` : name;
      throw refused(at, `unknown template variable "{${shown}}"; ${DOUBLING_HINT}`, { variable: shown });
    }
    onText(text.slice(from, i));
    onVariable(name);
    i = end;
    from = end + 1;
  }
  onText(text.slice(from));
};

const ignore = (): void => {};

/** The variables a template uses, in order; throws `bad_request` naming the first one that does not exist. */
export const parseTemplate = (text: string, at: string): readonly TemplateVariable[] => {
  const used: TemplateVariable[] = [];
  scan(text, at, ignore, (name) => used.push(name));
  return used;
};

export interface RenderOptions {
  /** Where the text comes from, for the error message. */
  readonly at: string;
  readonly values: TemplateValues;
  /** Variables that may be absent and then render as nothing. */
  readonly allowNull: readonly string[];
}

export const renderTemplate = (text: string, { at, values, allowNull }: RenderOptions): string => {
  if (!text.includes("{") && !text.includes("}")) return text;
  let rendered = "";
  scan(
    text,
    at,
    (piece) => {
      rendered += piece;
    },
    (name) => {
      const value = values[name];
      if (value !== undefined && value !== null) rendered += String(value);
      else if (!allowNull.includes(name)) {
        throw refused(at, `template variable "{${name}}" has no value in this call`, { variable: name });
      }
    },
  );
  return rendered;
};
