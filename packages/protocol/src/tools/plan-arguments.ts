// The arguments of one call, from what the caller sent and what the definition adds. Pure; runs for every dispatched call.
// AR1. `fixed` always wins: the caller's value under any spelling that folds to its name is removed before the author's is set.
// AR2. Env-managed parameters are absent from the outcome; only the variable's name is recorded (I8).
// AR3. A default fills a gap; an explicit null is not a gap.
// AR4. The parameter that `options.input` names is the plane's: what people answered to the tool's questions. A caller's value under any
//      spelling is removed, because a model could answer for the person.
// AR5. Only top-level strings of defaults and fixed are templates; the caller's strings never are.

import type { ToolCallCardInput } from "../cards/tool-cards.ts";
import { ToolplaneError } from "../errors/toolplane-error.ts";
import { formatJsonPath, shortText } from "../json/json-path.ts";
import type { JsonObject, JsonValue } from "../json/json-value.ts";
import type { ToolDefinition } from "./definition.ts";
import { foldName } from "./fold-name.ts";
import type { SchemaIssue, ValidateValue } from "./parameters-schema.ts";
import { isJudgedByManager } from "./pmo-arguments.ts";
import { parseRawArguments } from "./raw-arguments.ts";
import { renderTemplate, type TemplateValues } from "./template.ts";
import { isPmoToolName } from "./tool-name.ts";

export interface PlanArgumentsInput {
  readonly definition: Pick<ToolDefinition, "tool_name" | "options">;
  readonly rawArguments: unknown;
  /** What people answered to the questions of the round before; absent in a first round. */
  readonly answers?: JsonObject | undefined;
  readonly variables: TemplateValues;
  /** Compiled by `compileArguments` from the same definition. */
  readonly validate: ValidateValue;
}

/** What the `tool.call` card records about the layering: sorted names, and variable names instead of values. */
export type ArgumentsMetadata = Pick<ToolCallCardInput, "argsDefaultsApplied" | "argsFixedApplied" | "argsEnvs">;

export interface ArgumentsPlan {
  readonly arguments: JsonObject;
  readonly metadata: ArgumentsMetadata;
  /** Arguments, by the author's names, that the caller sent although the author manages them; they are logged as a warning. */
  readonly dropped: readonly string[];
}

const NONE: readonly string[] = [];
const MAX_SHOWN_ISSUES = 8;
const MAX_ISSUE_LENGTH = 200;

/** Which parameters the definition manages; kept per definition, because every call needs it. */
interface Layers {
  readonly defaults: readonly (readonly [string, JsonValue])[];
  readonly fixed: readonly (readonly [string, JsonValue])[];
  readonly envs: Readonly<Record<string, string>> | undefined;
  /** Folded name -> the author's spelling. */
  readonly managed: ReadonlyMap<string, string>;
  readonly allowNull: readonly string[];
  /** The parameter for answers. */
  readonly input: string | undefined;
}

const layersByOptions = new WeakMap<object, Layers>();

const layersOf = (options: ToolDefinition["options"]): Layers => {
  const known = layersByOptions.get(options);
  if (known !== undefined) return known;
  const envs = options.envs ?? {};
  const notEnv = ([name]: readonly [string, JsonValue]): boolean => !Object.hasOwn(envs, name);
  const fixed = Object.entries(options.args?.fixed ?? {}).filter(notEnv);
  const layers: Layers = {
    // A default that a fixed value replaces is not applied.
    defaults: Object.entries(options.args?.defaults ?? {}).filter(
      (entry) => notEnv(entry) && !Object.hasOwn(options.args?.fixed ?? {}, entry[0]),
    ),
    fixed,
    envs: Object.keys(envs).length === 0 ? undefined : envs,
    managed: new Map(
      [
        ...Object.keys(envs),
        ...fixed.map(([name]) => name),
        ...(options.input === undefined ? [] : [options.input]),
      ].map((name) => [foldName(name), name]),
    ),
    allowNull: options.args?.allow_null ?? [],
    input: options.input,
  };
  // Only values that cannot change may be remembered.
  if (Object.isFrozen(options)) layersByOptions.set(options, layers);
  return layers;
};

/** 11.6: the schema's refusal has the same form as the manager's own, so that a caller sees one form at every door. */
const managersWords = (toolName: string, [first]: readonly SchemaIssue[]): string =>
  `${toolName}: invalid args${first?.path.slice(1) ?? ""}: ${first?.message ?? ""}`;

/** Whether an issue is about this argument or a part of it. */
const isAbout = ({ path }: SchemaIssue, name: string): boolean => {
  const at = formatJsonPath([name]);
  return path === at || path.startsWith(`${at}.`) || path.startsWith(`${at}[`);
};

/** The definition's own value that an issue is about: its caller cannot mend it. */
const ownValue = (issues: readonly SchemaIssue[], { fixed, defaultsApplied }: OwnValues): string | undefined => {
  const isWrong = (name: string): boolean => issues.some((issue) => isAbout(issue, name));
  const inFixed = fixed.find(([name]) => isWrong(name));
  if (inFixed !== undefined) return `options.args.fixed.${inFixed[0]}`;
  const inDefaults = defaultsApplied.find(isWrong);
  return inDefaults === undefined ? undefined : `options.args.defaults.${inDefaults}`;
};

interface OwnValues extends Pick<Layers, "fixed"> {
  readonly defaultsApplied: readonly string[];
}

const checkArguments = (toolName: string, issues: readonly SchemaIssue[], own: OwnValues): void => {
  if (issues.length === 0) return;
  const key = ownValue(issues, own);
  const shown = issues.slice(0, MAX_SHOWN_ISSUES).map(({ path, message }) => ({
    path: shortText(path, MAX_ISSUE_LENGTH),
    message: shortText(message, MAX_ISSUE_LENGTH),
  }));
  const text = isPmoToolName(toolName)
    ? managersWords(toolName, shown)
    : `arguments of ${toolName} do not match its parameters: ${shown.map(({ path, message }) => `${path}: ${message}`).join("; ")}`;
  if (key === undefined) throw new ToolplaneError("bad_request", text, { detail: { issues: shown } });
  const todo = `correct ${key} of the definition of ${toolName}, and register it again`;
  throw new ToolplaneError("bad_request", `${text}; the value is ${key} of the definition, not the caller's`, {
    detail: { issues: shown, todo },
  });
};

/** Throws `bad_request` for arguments that are not an object, break the schema, or need a template variable without a value. */
export const planArguments = (input: PlanArgumentsInput): ArgumentsPlan => {
  const { definition, variables, validate } = input;
  const { defaults, fixed, envs, managed, allowNull, input: answersName } = layersOf(definition.options);
  const render = (value: JsonValue, at: string): JsonValue =>
    typeof value === "string" ? renderTemplate(value, { at, values: variables, allowNull }) : value;

  const layered: Record<string, JsonValue> = {};
  const dropped = new Set<string>();
  for (const [name, value] of Object.entries(parseRawArguments(input.rawArguments))) {
    const author = managed.size === 0 ? undefined : managed.get(foldName(name));
    if (author === undefined) layered[name] = value;
    else dropped.add(author);
  }
  const defaultsApplied: string[] = [];
  for (const [name, value] of defaults) {
    if (Object.hasOwn(layered, name)) continue;
    layered[name] = render(value, `options.args.defaults.${name}`);
    defaultsApplied.push(name);
  }
  for (const [name, value] of fixed) layered[name] = render(value, `options.args.fixed.${name}`);
  if (answersName !== undefined && input.answers !== undefined) layered[answersName] = input.answers;
  if (!isJudgedByManager(definition.tool_name, layered))
    checkArguments(definition.tool_name, validate(layered), { fixed, defaultsApplied });
  return {
    arguments: layered,
    metadata: {
      ...(defaultsApplied.length > 0 && { argsDefaultsApplied: defaultsApplied.sort() }),
      ...(fixed.length > 0 && { argsFixedApplied: fixed.map(([name]) => name).sort() }),
      ...(envs !== undefined && { argsEnvs: envs }),
    },
    dropped: dropped.size === 0 ? NONE : [...dropped].sort(),
  };
};
