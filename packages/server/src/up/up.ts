// `toolplane up`: the whole stack in one process, until it is told to stop.
//   stdout has two lines: `console  URL`, a link that logs a browser in, and last `ready http://HOST:PORT`. The rest is on stderr.
//   The first SIGTERM or SIGINT drains and exits 0. A second one exits at once; the guard then ends the child processes.

import { inTime, LATE, type Log, systemClock } from "@toolplane/engine";
import { createGuard } from "@toolplane/processes";
import { isToolplaneError } from "@toolplane/protocol";
import { describeFailure, formatFailure, stackOf } from "../cli/error-line.ts";
import { readSettings } from "../config/read-settings.ts";
import { createLog } from "../log/log.ts";
import { type Stack, startStack } from "./stack.ts";
import type { UpIo, UpOptions } from "./up-options.ts";
import { readVersion } from "./version.ts";

const EXIT_OK = 0;
const EXIT_FAILED = 1;
const EXIT_USAGE = 2;
/** Every part has its own time limit; this one is for a part that hangs unexpectedly. */
const DRAIN_LIMIT_MS = 40_000;

const drain = async (stack: Stack, log: Log): Promise<number> => {
  if ((await inTime(systemClock, DRAIN_LIMIT_MS, stack.stop())) !== LATE) {
    log.info("stopped");
    return EXIT_OK;
  }
  log.error(
    "the server did not stop in time and ends now; a call whose tool still ran is offered again or ended when its lease lapses",
    { seconds: DRAIN_LIMIT_MS / 1_000 },
  );
  return EXIT_FAILED;
};

const untilStopped = async (stack: Stack, stop: AbortSignal, log: Log): Promise<number> => {
  const told = new Promise<undefined>((resolve) => {
    if (stop.aborted) resolve(undefined);
    else stop.addEventListener("abort", () => resolve(undefined), { once: true });
  });
  const failure = await Promise.race([told, stack.failed]);
  if (failure === undefined) {
    log.info("stopping");
    return drain(stack, log);
  }
  log.error("cannot go on", { reason: failure.message });
  await drain(stack, log);
  return EXIT_FAILED;
};

const run = async (options: UpOptions, io: UpIo, stop: AbortSignal): Promise<number> => {
  const settings = readSettings(options, io);
  const log = createLog({
    write: (line) => void io.stderr.write(line),
    pretty: io.stderr.isTTY === true,
    level: settings.logLevel,
  });
  const { cwd } = io;
  const began = performance.now();
  const stack = await startStack({
    settings,
    version: readVersion(),
    cwd,
    env: io.env,
    pid: process.pid,
    log,
    guard: createGuard(),
    stop,
  });
  log.info("ready", { url: stack.url, ms: Math.round(performance.now() - began) });
  if (stack.consoleUrl !== undefined) io.stdout.write(`console  ${stack.consoleUrl}\n`);
  io.stdout.write(`ready ${stack.url ?? ""}\n`);
  return untilStopped(stack, stop, log);
};

/** Runs the stack; resolves to the exit code: 0 drained, 1 failed, 2 wrong flags or configuration. */
export const runUp = async (options: UpOptions, io: UpIo): Promise<number> => {
  const stopping = new AbortController();
  const forget = io.onStop(() => {
    if (stopping.signal.aborted) io.exit(EXIT_FAILED);
    stopping.abort();
  });
  try {
    return await run(options, io, stopping.signal);
  } catch (error) {
    if (stopping.signal.aborted && isToolplaneError(error) && error.code === "canceled") return EXIT_OK;
    io.stderr.write(`${formatFailure(describeFailure(error), false)}\n`);
    if (options.verbose === true) io.stderr.write(`${stackOf(error)}\n`);
    return isToolplaneError(error) && error.code === "bad_request" ? EXIT_USAGE : EXIT_FAILED;
  } finally {
    forget();
  }
};
