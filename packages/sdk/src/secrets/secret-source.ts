// Where the values of secrets come from, and which ones a tool may have. A variable that the tool's own code does not declare is
// refused, whatever a definition or a card says: a person who can change a definition must not be able to read this process's
// environment. A missing value is `auth_failed`, never an anonymous call (SEC-7).

import { isRecord, isToolplaneError, type JsonObject, ToolplaneError } from "@toolplane/protocol";
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

/**
 * Which variables a call needs. For a parameter that the definition fills from a variable, from the weakest to the strongest:
 *   1. the variable that the tool's own definition names, as the code has it;
 *   2. the one that the call's card recorded, if the code declares that variable too;
 *   3. the one that the configuration of the service names: its operator decides which credential is used.
 * The configuration cannot fill a parameter that the definition leaves to the caller.
 */
export const planSecrets = (
  declared: SecretDeclaration,
  metadata: JsonObject,
  configured: Readonly<Record<string, string>> = {},
): SecretNeeds => {
  const own = Object.entries(declared.envs);
  const allowed = new Set([...declared.secrets, ...own.map(([, name]) => name)]);
  const recorded = recordedEnvs(metadata);
  for (const [, name] of recorded) {
    if (!allowed.has(name)) throw refuse(`the call names the variable ${name}, which this tool does not declare`);
  }
  const named = new Map([...own, ...recorded]);
  const envs = new Map([...named, ...Object.entries(configured).filter(([parameter]) => named.has(parameter))]);
  const names = new Set([...declared.secrets, ...envs.values()]);
  for (const name of names) {
    if (!isEnvName(name) || isOwnEnvName(name)) throw refuse(`${name} is not a variable a tool may have`);
  }
  return {
    envs,
    names: [...names],
    optional: new Set(declared.optionalSecrets),
    use: declared.sentTo === undefined ? {} : { host: declared.sentTo },
  };
};

const isRefused = (error: unknown): boolean => isToolplaneError(error) && error.code === "auth_failed";

/** Undefined when it is not set, or when a variable that the tool can do without may not be used here. */
const readValue = async (name: string, { use, optional }: SecretNeeds, source: SecretSource) => {
  try {
    const value = await source(name, use);
    return value === undefined || value.trim() === "" ? undefined : value;
  } catch (error) {
    if (optional.has(name) && isRefused(error)) return undefined;
    throw error;
  }
};

/** Reads all of them before anything is sent: a missing one is `auth_failed`, unless the tool can do without it. */
export const readSecrets = async (needs: SecretNeeds, source: SecretSource): Promise<ReadonlyMap<string, string>> => {
  const values = new Map<string, string>();
  for (const name of needs.names) {
    const value = await readValue(name, needs, source);
    if (value !== undefined) values.set(name, value);
    else if (!needs.optional.has(name))
      throw new ToolplaneError("auth_failed", `the variable ${name} is not set where the tool runs`, {
        detail: { variable: name },
      });
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
