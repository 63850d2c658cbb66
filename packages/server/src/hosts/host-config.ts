// The config of a host, and the variables it names: a text `env:NAME` anywhere in it stands for the value of NAME.
//   HG1. What comes from a variable is a secret: it is removed from everything the host says (I8).
//   HG2. A variable that is not set is auth_failed, never an empty key (SEC-7).

import { isRecord, type JsonObject, type JsonValue, ToolplaneError } from "@toolplane/protocol";

const ENV_VALUE = "env:";

export interface NamedVariable {
  /** Where it stands, as a person would write it: `config.db.password`. */
  readonly path: readonly (string | number)[];
  readonly name: string;
}

/** The variables a config names. */
export const namedVariables = (value: JsonValue, path: readonly (string | number)[] = []): readonly NamedVariable[] => {
  if (typeof value === "string")
    return value.startsWith(ENV_VALUE) ? [{ path, name: value.slice(ENV_VALUE.length) }] : [];
  if (Array.isArray(value)) return value.flatMap((item: JsonValue, index) => namedVariables(item, [...path, index]));
  if (!isRecord(value)) return [];
  return Object.entries(value as JsonObject).flatMap(([key, item]) => namedVariables(item, [...path, key]));
};

const fillIn = (value: JsonValue, values: ReadonlyMap<string, string>): JsonValue => {
  if (typeof value === "string")
    return value.startsWith(ENV_VALUE) ? (values.get(value.slice(ENV_VALUE.length)) ?? value) : value;
  if (Array.isArray(value)) return value.map((item: JsonValue) => fillIn(item, values));
  if (!isRecord(value)) return value;
  return Object.fromEntries(Object.entries(value as JsonObject).map(([key, item]) => [key, fillIn(item, values)]));
};

/** The values of the variables a config names, as far as they are set. */
export const configSecrets = (
  config: JsonObject,
  env: Readonly<Record<string, string | undefined>>,
): ReadonlyMap<string, string> =>
  new Map(
    namedVariables(config).flatMap(({ name }) => {
      const value = Object.hasOwn(env, name) ? env[name] : undefined;
      return value === undefined || value.trim() === "" ? [] : [[name, value] as const];
    }),
  );

export const fillConfig = (
  host: string,
  config: JsonObject,
  env: Readonly<Record<string, string | undefined>>,
): JsonObject => {
  const values = configSecrets(config, env);
  for (const { name, path } of namedVariables(config, ["config"])) {
    if (!values.has(name))
      throw new ToolplaneError(
        "auth_failed",
        `host ${host}: ${path.join(".")} names the variable ${name}, which is not set: set it where the server is started`,
      );
  }
  return fillIn(config, values) as JsonObject;
};
