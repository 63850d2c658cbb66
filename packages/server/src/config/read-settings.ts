// Finds the configuration file, reads it, and decides the settings.

import { existsSync, lstatSync, readFileSync } from "node:fs";
import { dirname, relative, resolve } from "node:path";
import type { UpIo, UpOptions } from "../up/up-options.ts";
import { parseConfigFile } from "./config-file.ts";
import { refuseConfig } from "./refuse.ts";
import type { SettingsInput } from "./setting-value.ts";
import { planSettings, type Settings } from "./settings.ts";

const CONFIG_FILE = "toolplane.yaml";

const readText = (path: string, shown: string): string => {
  try {
    return readFileSync(path, "utf8");
  } catch (cause) {
    const why = (cause as NodeJS.ErrnoException).code === "ENOENT" ? "there is no such file" : "it cannot be read";
    throw refuseConfig(`${shown}: ${why}`, cause);
  }
};

const GROUP_OR_OTHERS_WRITE = 0o022;

/** A file that was found and not named is run with our rights: only we or root may be able to write it. */
const refuseForeign = (path: string, shown: string): void => {
  const uid = process.getuid?.();
  if (uid === undefined) return;
  const { uid: owner, mode } = lstatSync(path);
  const isForeign = owner !== uid && owner !== 0;
  if (!isForeign && (uid !== 0 || (mode & GROUP_OR_OTHERS_WRITE) === 0)) return;
  const why = isForeign ? `it belongs to user ${owner}` : "users other than root can write it";
  throw refuseConfig(`${shown}: ${why}, and it was found in this directory; name it with --config if you trust it`);
};

/** The file is optional unless it was named explicitly. */
const readFile = (named: string | undefined, cwd: string): SettingsInput["file"] => {
  const path = resolve(cwd, named ?? CONFIG_FILE);
  if (named === undefined && !existsSync(path)) return undefined;
  const shown = named ?? (relative(cwd, path) || path);
  if (named === undefined) refuseForeign(path, shown);
  return { ...parseConfigFile(readText(path, shown), shown), directory: dirname(path) };
};

export const readSettings = (flags: UpOptions, io: Pick<UpIo, "env" | "cwd">): Settings => {
  const named = flags.config ?? (io.env.TOOLPLANE_CONFIG?.trim() || undefined);
  return planSettings({ flags, env: io.env, cwd: io.cwd, file: readFile(named, io.cwd) });
};
