// The `toolplane` command: one command line in, one exit code out. Every error is one line on stderr.

import { createApi, createApiPlane } from "@toolplane/sdk/client";
import type { UpIo } from "../up/up-options.ts";
import { readVersion } from "../up/version.ts";
import { checkCommand, findCommand, parseCommandLine } from "./command-line.ts";
import { adviseToken, describeFailure, formatFailure, stackOf } from "./error-line.ts";
import { EXIT } from "./exit-code.ts";
import { helpFor } from "./help.ts";
import { type CliIo, createCliIo, endQuietlyWithReader, goOnWithoutReader } from "./io.ts";
import { createOutput } from "./output.ts";
import { readSettings } from "./settings.ts";
import { WrongUsage } from "./wrong-usage.ts";

const HINTS = {
  noServer: "start it with: toolplane up (or name another one with --url)",
  notOurs: "check --url",
};

const run = async (argv: readonly string[], io: CliIo): Promise<number> => {
  const { flags, words, version } = parseCommandLine(argv);
  if (version) {
    io.stdout.write(`${readVersion()}\n`);
    return EXIT.ok;
  }
  if (words[0] === "help" || flags.help === true) {
    io.stdout.write(`${helpFor(words[0] === "help" ? words.slice(1) : words)}\n`);
    return EXIT.ok;
  }
  if (words.length === 0) throw new WrongUsage("say what to do");
  const found = findCommand(words);
  checkCommand(found, flags);
  const { url, project, readToken, tokenFrom } = await readSettings(flags, io);
  const pool = io.openPool(url);
  const client = createApi({ url, send: pool.send, readToken, hints: HINTS });
  try {
    return await found.command.run({
      args: found.args,
      flags,
      io,
      output: createOutput(io, flags.json === true),
      client,
      // A person is told at once that no server is there.
      openPlane: (onAway, startupMs = 0) =>
        createApiPlane({ api: client, projectId: project, clock: io, startupMs, onRetry: onAway }),
      project,
    });
  } catch (error) {
    throw adviseToken(error, tokenFrom);
  } finally {
    await pool.close();
  }
};

/** Resolves to the exit code; never rejects. */
export const main = async (argv: readonly string[], given?: UpIo & Partial<CliIo>): Promise<number> => {
  const io = createCliIo(given);
  if (given === undefined) {
    endQuietlyWithReader(process.stdout, io.exit);
    goOnWithoutReader(process.stderr);
  }
  try {
    return await run(argv, io);
  } catch (error) {
    const failure = describeFailure(error);
    io.stderr.write(`${formatFailure(failure, argv.includes("--json"))}\n`);
    if (argv.includes("--verbose")) io.stderr.write(`${stackOf(error)}\n`);
    return failure.code === "usage" ? EXIT.usage : EXIT.failed;
  }
};
