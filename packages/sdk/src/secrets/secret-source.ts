// Where the values of secrets come from, and which ones a tool may have. A variable that the tool's own code does not declare is
// refused, whatever a definition or a card says: a person who can change a definition must not be able to read this process's
// environment. A missing value is `auth_failed`, never an anonymous call (SEC-7).

import { isRecord, type JsonObject, ToolplaneError } from "@toolplane/protocol";
import { isEnvName, isOwnEnvName } from "@toolplane/protocol/registry";

/** Where a value goes. */
export interface SecretUse {
  /** The host that a request with it is sent to; undefined: the tool's own code. */
  readonly host?: string | undefined;
}

/** Gives the value of a variable, or undefined when it is not set. Throws when the variable may not be used there. */
export type SecretSource = (name: string, use: SecretUse) => string | undefined | Promise<string | undefined>;

export const createEnvSecrets =
  (env: Readonly<Record<string, string | undefined>>): SecretSource =>
  (name) =>
    Object.hasOwn(env, name) ? env[name] : undefined;

export interface SecretNeeds {
  /** Parameter -> variable whose value it gets. */
  readonly envs: ReadonlyMap<string, string>;
  /** Every variable to look up. */
  readonly names: readonly string[];
  /** The variables among them that may be missing. */
  readonly optional: ReadonlySet<string>;
  readonly use: SecretUse;
}

export interface SecretDeclaration {
  /** Variables the code asked for by name. */
  readonly secrets: readonly string[];
  /** Parameter -> variable, as the code's own definition says. */
  readonly envs: Readonly<Record<string, string>>;
  /** Variables without which the tool runs too: the call then goes on without the value. */
  readonly optionalSecrets?: readonly string[] | undefined;
  /** The only host that the values are sent to, for executors that send requests. */
  readonly sentTo?: string | undefined;
}

const refuse = (message: string): ToolplaneError => new ToolplaneError("auth_failed", message);

/** `tool_args_envs` of a tool.call card; what is not a map of names to names counts as absent. */
const recordedEnvs = (metadata: JsonObject): [string, string][] =>
  isRecord(metadata.tool_args_envs)
    ? Object.entries(metadata.tool_args_envs).filter((entry): entry is [string, string] => typeof entry[1] === "string")
    : [];

export const planSecrets = (declared: SecretDeclaration, metadata: JsonObject): SecretNeeds => {
  const own = Object.entries(declared.envs);
  const allowed = new Set([...declared.secrets, ...own.map(([, name]) => name)]);
  const envs = new Map([...own, ...recordedEnvs(metadata)]);
  for (const name of envs.values()) {
    if (!allowed.has(name)) throw refuse(`the call names the variable ${name}, which this tool does not declare`);
  }
  for (const name of allowed) {
    if (!isEnvName(name) || isOwnEnvName(name)) throw refuse(`${name} is not a variable a tool may have`);
  }
  return {
    envs,
    names: [...allowed],
    optional: new Set(declared.optionalSecrets),
    use: declared.sentTo === undefined ? {} : { host: declared.sentTo },
  };
};

export const readSecrets = async (needs: SecretNeeds, source: SecretSource): Promise<ReadonlyMap<string, string>> => {
  const values = new Map<string, string>();
  for (const name of needs.names) {
    const value = await source(name, needs.use);
    const isMissing = value === undefined || value.trim() === "";
    if (isMissing && needs.optional.has(name)) continue;
    if (isMissing) throw refuse(`the variable ${name} is not set where the tool runs`);
    values.set(name, value);
  }
  return values;
};

/** The card's arguments with the injected values; an injected value replaces the caller's value of that name. */
export const injectSecrets = (
  args: JsonObject,
  { envs }: Pick<SecretNeeds, "envs">,
  values: ReadonlyMap<string, string>,
): JsonObject => {
  if (envs.size === 0) return args;
  const injected = [...envs].flatMap(([parameter, name]) => {
    const value = values.get(name);
    return value === undefined ? [] : [[parameter, value] as const];
  });
  // What the caller sent under such a name is dropped, also when the variable is optional and not set. fromEntries defines
  // properties: a parameter named __proto__ stays a plain one.
  return Object.fromEntries([...Object.entries(args).filter(([parameter]) => !envs.has(parameter)), ...injected]);
};
