// `toolplane call`: one durable call.
//   The request carries an idempotency key, made up if none is given: when the connection breaks before the answer, the
//   request is sent again and is still the same call. Its id is asked for first and the result second, so that there is an
//   id to tell when the wait ends early.

import { isToolplaneError } from "@toolplane/protocol";
import { showOutcome } from "../call-outcome.ts";
import { type Body, pathOf } from "../client.ts";
import type { Command, CommandContext } from "../command.ts";
import { parseDuration, parseMoment } from "../duration.ts";
import { readInput } from "../input.ts";
import { isOver, leaveRunning, mayPass, type Wait, waitForCall, withWait } from "../wait-for-call.ts";
import { WrongUsage } from "../wrong-usage.ts";

const DEFAULT_WAIT_MS = 30_000;
/** Between tries to hand over a request whose answer was lost. */
const AGAIN_MS = 500;

/** JSON.parse reads 1e400 as Infinity, and that would be sent as null. */
const refuseOverflow = (_key: string, value: unknown): unknown => {
  if (typeof value === "number" && !Number.isFinite(value))
    throw new WrongUsage("the arguments have a number that is too large: write it as a text", "call");
  return value;
};

const readArguments = async ({ args, io }: CommandContext): Promise<unknown> => {
  const given = args[1];
  if (given === undefined) return {};
  const file = given === "-" ? "-" : given.startsWith("@") ? given.slice(1) : undefined;
  const text = file === undefined ? given : await readInput(io, file);
  try {
    return JSON.parse(text, refuseOverflow) as unknown;
  } catch (error) {
    if (error instanceof WrongUsage) throw error;
    const from = file === undefined ? "" : ` in ${file === "-" ? "stdin" : file}`;
    const why = error instanceof Error ? error.message : "it cannot be read";
    throw new WrongUsage(`the arguments${from} are not JSON: ${why}`, "call");
  }
};

/** Nothing was sent: the server is not there at all. */
const isRefused = (error: unknown): boolean => {
  for (let cause: unknown = error, depth = 0; cause instanceof Error && depth < 5; cause = cause.cause, depth += 1)
    if ((cause as NodeJS.ErrnoException).code === "ECONNREFUSED") return true;
  return false;
};

const send = async (context: CommandContext, body: Body, { untilMs, signal }: Wait): Promise<Body> => {
  const { client, project, io } = context;
  for (let tries = 1; ; tries += 1) {
    try {
      return await client.request({ method: "POST", path: pathOf("projects", project, "calls"), body, signal });
    } catch (error) {
      const hopeless = !isToolplaneError(error) || !mayPass(error) || (tries === 1 && isRefused(error));
      if (hopeless || signal.aborted || io.now() + AGAIN_MS >= untilMs) throw error;
      await io.sleep(AGAIN_MS, signal);
    }
  }
};

const planWait = ({ wait, at }: CommandContext["flags"]): number => {
  if (wait !== undefined) return parseDuration(wait, "--wait");
  // Nobody waits by default for something that is meant for later.
  return at === undefined ? DEFAULT_WAIT_MS : 0;
};

export const callCommand: Command = {
  name: "call",
  usage: "TOOL [JSON|@file|-]",
  least: 1,
  most: 2,
  options: ["project", "agent", "wait", "key", "at"],
  summary: "make one durable call and print its result as JSON",
  async run(context) {
    const { args, flags, io } = context;
    const waitMs = planWait(flags);
    const body: Body = {
      tool_name: args[0],
      arguments: await readArguments(context),
      idempotency_key: flags.key ?? `cli-${io.uuid()}`,
      ...(flags.agent === undefined ? {} : { agent_id: flags.agent }),
      ...(flags.at === undefined ? {} : { not_before: parseMoment(flags.at, io.now(), "--at").toISOString() }),
    };
    return withWait(context, waitMs, async (wait) => {
      const made = await send(context, body, wait);
      const call = await waitForCall(context, made, wait);
      return isOver(call) ? showOutcome(context, call) : leaveRunning(context, call, wait.signal.aborted);
    });
  },
};
