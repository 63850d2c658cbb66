// The help, written from the table of commands.

import type { Command } from "./command.ts";
import { COMMANDS } from "./commands.ts";
import { GLOBAL_OPTIONS, OPTIONS, type Option, type OptionName } from "./options.ts";
import { WrongUsage } from "./wrong-usage.ts";

const flagOf = (name: OptionName): string => {
  const option: Option = OPTIONS[name];
  return option.type === "boolean" ? `--${name}` : `--${name} ${option.value ?? "VALUE"}`;
};

/** The line a person types: `toolplane call TOOL [JSON|@file|-] [--project P] ...`. */
export const usageOf = ({ name, usage, options }: Command): string =>
  [
    "toolplane",
    name,
    usage,
    ...options.filter((option) => !usage.includes(`--${option}`)).map((option) => `[${flagOf(option)}]`),
  ]
    .filter((part) => part !== "")
    .join(" ");

const columns = (rows: readonly (readonly [string, string])[]): string => {
  const width = Math.max(...rows.map(([left]) => left.length));
  return rows.map(([left, right]) => `  ${left.padEnd(width)}  ${right}`).join("\n");
};

const EXIT_CODES = "exit codes: 0 done, 1 failed, 2 wrong usage, 3 the call is still running";

export const overview = (): string =>
  [
    "toolplane: durable tool calls for AI agents",
    "",
    "usage: toolplane COMMAND [ARGUMENTS] [FLAGS]",
    "",
    columns([
      ...COMMANDS.map(({ name, usage, summary }) => [`${name} ${usage}`.trim(), summary] as const),
      ["help [COMMAND]", "this page, or how one command is written"],
    ]),
    "",
    "flags of every command:",
    columns([
      ...GLOBAL_OPTIONS.map((name) => [flagOf(name), OPTIONS[name].help] as const),
      ["--version", "print the version"],
    ]),
    "",
    EXIT_CODES,
  ].join("\n");

const commandHelp = (command: Command): string => {
  const lines = [`usage: ${usageOf(command)}`, "", command.summary];
  if (command.options.length > 0)
    lines.push("", columns(command.options.map((name) => [flagOf(name), OPTIONS[name].help] as const)));
  return lines.join("\n");
};

/** The help for `call`, for `calls` with all it has, or the overview without words. */
export const helpFor = (words: readonly string[]): string => {
  if (words.length === 0) return overview();
  const named = words.slice(0, 2).join(" ");
  const found = COMMANDS.filter(
    ({ name }) => name === named || name === words[0] || (words.length === 1 && name.startsWith(`${words[0]} `)),
  );
  if (found.length === 0) throw new WrongUsage(`there is no command "${named}"`);
  return found.map(commandHelp).join("\n\n");
};
