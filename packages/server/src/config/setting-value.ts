// Where a value comes from: a flag, a variable, or the file - which may name a variable in its place.

import { isEnvName } from "@toolplane/protocol/registry";
import type { UpOptions } from "../up/up-options.ts";
import type { OpenedConfig } from "./named-entries.ts";
import { refuseConfig } from "./refuse.ts";

export interface SettingsInput {
  readonly flags: UpOptions;
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly cwd: string;
  readonly file: OpenedConfig | undefined;
}

const ENV_VALUE = "env:";

/** Blank is not given. */
export const filled = (value: string | undefined): string | undefined => (value?.trim() ? value.trim() : undefined);

/** A value of the file, or of the variable it names. */
export const readValue = (
  { env, file }: SettingsInput,
  path: readonly string[],
  text?: string | undefined,
): string | undefined => {
  if (text === undefined || !text.startsWith(ENV_VALUE)) return text;
  const name = text.slice(ENV_VALUE.length);
  const at = `${file?.where(path)}: ${path.join(".")}`;
  if (!isEnvName(name)) throw refuseConfig(`${at}: ${JSON.stringify(name)} is not the name of a variable`);
  const value = filled(env[name]);
  if (value === undefined) throw refuseConfig(`${at}: the variable ${name} is not set`);
  return value;
};
