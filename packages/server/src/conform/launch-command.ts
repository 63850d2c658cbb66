// Starts the service under test as a child that cannot outlive us, with the variables every service reads. The last lines that it
// prints are kept, for the error when it ends or never connects.

import type { Readable } from "node:stream";
import { type ExitStatus, spawnGuarded } from "@toolplane/processes";
import type { CliIo } from "../cli/io.ts";
import { oneLine } from "../cli/plain-text.ts";
import type { LaunchedService } from "./service-life.ts";

export interface Connection {
  readonly url: string;
  /** Empty over NATS. */
  readonly token: string;
  readonly projectId: string;
  /** The same, as a service finds it in its environment. */
  readonly variables: Readonly<Record<string, string>>;
}

export interface LaunchCommandOptions {
  readonly argv: readonly string[];
  readonly connection: Connection;
  readonly io: Pick<CliIo, "env" | "cwd" | "stderr">;
  /** Pass on everything the service prints. */
  readonly verbose: boolean;
  readonly words: LastWords;
}

export interface LastWords {
  add(text: string): void;
  lines(): readonly string[];
}

const MAX_LINES = 20;
const MAX_LINE_CHARS = 500;
/** A service may finish what it runs; after that it is ended. */
const GRACE_MS = 2_000;

export const createLastWords = (): LastWords => {
  let lines: readonly string[] = [];
  let open = "";
  return {
    add(text) {
      const pieces = (open + text).split("\n");
      open = (pieces.pop() ?? "").slice(-MAX_LINE_CHARS);
      lines = [...lines, ...pieces.map((line) => oneLine(line.slice(0, MAX_LINE_CHARS)))].slice(-MAX_LINES);
    },
    lines: () => (open === "" ? lines : [...lines, oneLine(open)].slice(-MAX_LINES)),
  };
};

export const connectionLines = ({ variables }: Connection): readonly string[] =>
  Object.entries(variables).map(([name, value]) => `${name}=${value}`);

/** The variables of the environment that have a value. */
export const setVariables = (env: CliIo["env"]): Record<string, string> =>
  Object.fromEntries(Object.entries(env).filter((entry): entry is [string, string] => entry[1] !== undefined));

const describeExit = ({ code, signal }: ExitStatus): string =>
  signal === null ? `ended with code ${code}` : `was ended by ${signal}`;

export const launchCommand = async (options: LaunchCommandOptions): Promise<LaunchedService> => {
  const { argv, connection, io, words } = options;
  const service = await spawnGuarded(argv, {
    label: "the service",
    env: { ...setVariables(io.env), ...connection.variables },
    cwd: io.cwd,
    stdio: ["ignore", "pipe", "pipe"],
    graceMs: GRACE_MS,
  });
  const listen = (stream: Readable | null): void => {
    stream?.setEncoding("utf8");
    stream?.on("data", (text: string) => {
      words.add(text);
      if (options.verbose) io.stderr.write(text);
    });
  };
  listen(service.child.stdout);
  listen(service.child.stderr);
  // `close`, not `exit`: the last output is still in the pipe when the process is gone.
  const closed = new Promise<void>((resolve) => service.child.once("close", () => resolve()));
  return {
    exited: Promise.all([service.ended, closed]).then(([status]) => describeExit(status)),
    stop: async () => {
      await service.end();
    },
  };
};
