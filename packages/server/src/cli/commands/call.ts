// `toolplane call`: one durable call.
//   The request carries an idempotency key, made up if none is given: when the connection breaks before the answer, the request
//   is sent again and is still the same call. The command first gets the call's id and then its result, so that it can name
//   the call when the wait ends early.

import { isRecord, isToolplaneError, parseJsonStrict } from "@toolplane/protocol";
import { isOver } from "@toolplane/sdk/client";
import { parseText } from "../body.ts";
import { showOutcome } from "../call-outcome.ts";
import type { Command, CommandContext } from "../command.ts";
import { parseDuration, parseMoment } from "../duration.ts";
import { readInput } from "../input.ts";
import { askPatiently, leaveRunning, openPatient, waitForCall, withWait } from "../wait-for-call.ts";
import { WrongUsage } from "../wrong-usage.ts";

const DEFAULT_WAIT_MS = 30_000;

/** JSON.parse reads 1e400 as Infinity, and that would be sent as null. */
const refuseOverflow = (_key: string, value: unknown): unknown => {
  if (typeof value === "number" && !Number.isFinite(value))
    throw new WrongUsage("the arguments have a number that is too large: write it as a text", "call");
  return value;
};

const kindOf = (value: unknown): string =>
  value === null
    ? "null"
    : Array.isArray(value)
      ? "a list"
      : typeof value === "string"
        ? "a text"
        : `a ${typeof value}`;

/** `from`: where the text comes from, for the sentence about a mistake. */
const parseArguments = (text: string, from: string): unknown => {
  let given: unknown;
  try {
    given = JSON.parse(text, refuseOverflow);
    // JSON.parse takes the last of two members of one name, and the server would not see that there were two.
    parseJsonStrict(text, { namesOnce: true });
  } catch (error) {
    if (error instanceof WrongUsage) throw error;
    if (isToolplaneError(error)) throw new WrongUsage(`the arguments${from}: ${error.message}`, "call");
    const why = error instanceof Error ? error.message : "it cannot be read";
    throw new WrongUsage(`the arguments${from} are not JSON: ${why}`, "call");
  }
  if (isRecord(given)) return given;
  throw new WrongUsage(
    `the arguments${from} are ${kindOf(given)}: write an object with a member for each argument, such as {"text": "hello"}`,
    "call",
  );
};

const readArguments = async ({ args, io }: CommandContext): Promise<unknown> => {
  const given = args[1];
  if (given === undefined) return {};
  const file = given === "-" ? "-" : given.startsWith("@") ? given.slice(1) : undefined;
  if (file === undefined) return parseArguments(given, "");
  return parseArguments(await readInput(io, file), ` in ${file === "-" ? "stdin" : file}`);
};

const planWait = ({ wait, at }: CommandContext["flags"]): number => {
  if (wait !== undefined) return parseDuration(wait, "--wait");
  // By default the command does not wait for a call with --at.
  return at === undefined ? DEFAULT_WAIT_MS : 0;
};

const LAST_ANSWER_MS = 2_000;

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
    const given = await readArguments(context);
    const options = {
      key: flags.key ?? `cli-${io.uuid()}`,
      agent: flags.agent,
      at: flags.at === undefined ? undefined : parseMoment(flags.at, io.now(), "--at"),
    };
    let id: string | undefined;
    return withWait(context, waitMs, async (wait) => {
      // With --wait the command also waits for a server that is away. The key makes a repeated request the same call.
      const asked = flags.wait === undefined ? {} : { startupMs: waitMs, untilMs: wait.untilMs };
      const plane = openPatient(context, () => id && `call ${id}`, asked);
      // At Ctrl-C the call may already be made. The command waits a moment for its id, to say which call goes on.
      const enough = new AbortController();
      const onStop = (): void => void io.sleep(LAST_ANSWER_MS, enough.signal).then(() => enough.abort());
      wait.signal.addEventListener("abort", onStop, { once: true });
      const made = await askPatiently(context, wait, () =>
        plane.start(args[0] ?? "", given, { ...options, signal: enough.signal }),
      ).finally(() => enough.abort());
      id = parseText(made, "tool_call_id");
      const call = await waitForCall(context, plane, made, wait);
      return isOver(call) ? showOutcome(context, call) : leaveRunning(context, call, wait.signal.aborted);
    });
  },
};
