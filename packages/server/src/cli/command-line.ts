// Reads the command line: flags first, wherever they stand, then the command (one or two words), then whether the flags fit the
// command. Nothing is guessed: an unknown word or flag is wrong usage.

import { parseArgs } from "node:util";
import { didYouMean } from "@toolplane/protocol";
import type { Command } from "./command.ts";
import { COMMANDS, LATER_COMMANDS } from "./commands.ts";
import { type Flags, GLOBAL_OPTIONS, OPTIONS, type OptionName } from "./options.ts";
import { WrongUsage } from "./wrong-usage.ts";

export interface CommandLine {
  readonly flags: Flags;
  readonly words: readonly string[];
}

const PARSE_OPTIONS = {
  ...Object.fromEntries(Object.entries(OPTIONS).map(([name, { type }]) => [name, { type }] as const)),
  help: { type: "boolean", short: "h" },
} as const;

/** Whether the program's own version is asked for: `--version` without a command (some commands take a `--version N`). */
const asksForVersion = (argv: readonly string[]): boolean => {
  const options = { ...PARSE_OPTIONS, version: { type: "boolean" } } as const;
  const { values, positionals } = parseArgs({ args: [...argv], options, allowPositionals: true, strict: false });
  return values.version === true && positionals.length === 0;
};

const NO_VALUE = ["argument is ambiguous", "argument missing"];

/** Names of the API that are written in another way here. */
const ELSEWHERE: ReadonlyMap<string, string> = new Map([
  ["target-breaker", "; did you mean --breaker?"],
  ["retry-policy", "; retry_policy is changed over the API (PATCH /projects/P/tools/TOOL/limits) or in the definition"],
]);

const meantBy = (name: string): string =>
  ELSEWHERE.get(name.replaceAll("_", "-")) ?? didYouMean(name, Object.keys(PARSE_OPTIONS), "--");

/** Node's messages end with advice about quoting that is of no use here. */
const firstSentence = (text: string): string => {
  const flag = (text.split("'")[1] ?? "").split(" ", 1)[0] ?? "";
  if (NO_VALUE.some((words) => text.includes(words)))
    return `${flag} needs a value; one that begins with a dash is written ${flag}=VALUE`;
  const end = text.indexOf(". ");
  const sentence = end < 0 ? text : text.slice(0, end);
  const isUnknown = sentence.startsWith("Unknown option");
  return isUnknown ? `${sentence}${meantBy(flag.slice(2))}` : sentence;
};

export const parseCommandLine = (argv: readonly string[]): CommandLine & { readonly version: boolean } => {
  const version = asksForVersion(argv);
  try {
    const { values, positionals } = parseArgs({
      args: version ? argv.filter((arg) => arg !== "--version") : [...argv],
      options: PARSE_OPTIONS,
      allowPositionals: true,
      strict: true,
    });
    return { flags: values as Flags, words: positionals, version };
  } catch (error) {
    throw new WrongUsage(error instanceof Error ? firstSentence(error.message) : "the command line cannot be read");
  }
};

export interface FoundCommand {
  readonly command: Command;
  readonly args: readonly string[];
}

const subcommandsOf = (word: string): readonly string[] =>
  COMMANDS.filter(({ name }) => name.startsWith(`${word} `)).map(({ name }) => name.slice(word.length + 1));

/** The command the words begin with. */
export const findCommand = (words: readonly string[]): FoundCommand => {
  const [first = "", second] = words;
  for (const count of [2, 1]) {
    const name = words.slice(0, count).join(" ");
    const command = COMMANDS.find((candidate) => candidate.name === name);
    if (command !== undefined) return { command, args: words.slice(count) };
    if (LATER_COMMANDS.has(name)) throw new WrongUsage(`"${name}" is not part of this version`);
  }
  // `toolplane services` is short for `toolplane services list`.
  const list = second === undefined ? COMMANDS.find(({ name }) => name === `${first} list`) : undefined;
  if (list !== undefined) return { command: list, args: [] };
  const subcommands = subcommandsOf(first);
  const firsts = new Set(COMMANDS.map(({ name }) => name.split(" ", 1)[0] ?? ""));
  if (subcommands.length === 0) throw new WrongUsage(`there is no command "${first}"${didYouMean(first, firsts)}`);
  const said = second === undefined ? `"${first}" needs one more word` : `there is no command "${first} ${second}"`;
  throw new WrongUsage(`${said}: ${subcommands.join(", ")}`, first);
};

/** What the server puts on one page at most. */
const MAX_LIMIT = 500;

const isLimit = (text: string): boolean => {
  const limit = text.trim() === "" ? Number.NaN : Number(text);
  return Number.isInteger(limit) && limit >= 1 && limit <= MAX_LIMIT;
};

const isVersion = (text: string): boolean => /^[1-9][0-9]{0,8}$/.test(text.trim());

const checkFlags = (command: Command, flags: Flags): void => {
  const taken: ReadonlySet<string> = new Set<OptionName>([...GLOBAL_OPTIONS, ...command.options]);
  const strange = Object.keys(flags).find((name) => !taken.has(name));
  if (strange !== undefined) throw new WrongUsage(`${command.name} takes no --${strange}`, command.name);
  const { limit, version, status, key } = flags;
  if (limit !== undefined && !isLimit(limit))
    throw new WrongUsage(`--limit takes a whole number from 1 to ${MAX_LIMIT}, not "${limit}"`, command.name);
  if (version !== undefined && !isVersion(version))
    throw new WrongUsage(`--version takes the number of a version, not "${version}"`, command.name);
  if (status !== undefined && command.statuses?.includes(status) === false)
    throw new WrongUsage(`--status takes one of ${command.statuses.join(", ")}, not "${status}"`, command.name);
  if (key?.trim() === "")
    throw new WrongUsage("--key takes a text that is not empty; without --key, a key is made up", command.name);
};

const checkArgs = ({ name, usage, least, most }: Command, args: readonly string[]): void => {
  if (args.length < least) throw new WrongUsage(`${name} needs ${usage}`, name);
  if (args.length > most) throw new WrongUsage(`${name} does not take "${args[most]}"`, name);
  // An empty argument would address the list instead of one thing in it.
  if (args.slice(0, least).some((arg) => arg.trim() === "")) throw new WrongUsage(`${name} needs ${usage}`, name);
};

export const checkCommand = ({ command, args }: FoundCommand, flags: Flags): void => {
  checkFlags(command, flags);
  checkArgs(command, args);
};
