// The arguments of a call as people see them: layered, as the tool gets them, without what is to stay hidden.
//   - A value from a variable is never stored, so only the variable's name is known.
//   - A parameter whose schema says `writeOnly: true` or `format: password` is hidden from every reader.
//   - An agent does not see what the author fixed: the author took these parameters away from the model.

import type { Engine } from "@toolplane/engine";
import { type Card, isRecord, type JsonObject } from "@toolplane/protocol";

export const HIDDEN = "[hidden]";

export interface ShownArguments {
  readonly arguments: JsonObject;
  /** Where values come from that the caller did not send. */
  readonly layers: {
    readonly defaults: readonly string[];
    readonly fixed: readonly string[];
    /** Parameter to variable. */
    readonly envs: Readonly<Record<string, string>>;
    readonly hidden: readonly string[];
  };
}

const namesIn = (value: unknown): readonly string[] =>
  Array.isArray(value) ? value.filter((name) => typeof name === "string") : [];

const isHidden = (schema: unknown): boolean =>
  isRecord(schema) && (schema.writeOnly === true || schema.format === "password");

/** Names of the parameters that no reader may see. */
export const hiddenParameters = (parameters: unknown): ReadonlySet<string> => {
  const properties = isRecord(parameters) && isRecord(parameters.properties) ? parameters.properties : {};
  return new Set(Object.keys(properties).filter((name) => isHidden(properties[name])));
};

/** Pure: what is shown of a tool.call card. `parameters` is the schema of the tool's definition. */
export const planShownArguments = (
  card: Pick<Card, "content" | "metadata">,
  parameters: unknown,
  forAgent: boolean,
): ShownArguments | undefined => {
  const { content, metadata } = card;
  if (content.__type__ !== "ToolCallContent") return undefined;
  const fixed = namesIn(metadata.tool_args_fixed_applied);
  const secret = hiddenParameters(parameters);
  const hides = (name: string): boolean => secret.has(name) || (forAgent && fixed.includes(name));
  const entries = Object.entries(isRecord(content.arguments) ? content.arguments : {});
  const envs = isRecord(metadata.tool_args_envs) ? metadata.tool_args_envs : {};
  return {
    arguments: Object.fromEntries(entries.map(([name, value]) => [name, hides(name) ? HIDDEN : value])) as JsonObject,
    layers: {
      defaults: namesIn(metadata.tool_args_defaults_applied),
      fixed,
      envs: Object.fromEntries(Object.entries(envs).map(([name, variable]) => [name, String(variable)])),
      hidden: entries.map(([name]) => name).filter(hides),
    },
  };
};

/** The schema of the version a call was made under, from memory where it is known. */
export const parametersOf = async (
  engine: Pick<Engine, "definitions">,
  call: { readonly projectId: string; readonly toolName: string; readonly toolVersion: number },
): Promise<unknown> =>
  (await engine.definitions.resolveVersion(call.projectId, call.toolName, call.toolVersion))?.definition.parameters;
