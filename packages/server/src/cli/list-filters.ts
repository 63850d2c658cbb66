// The filters that lists of calls and of turns share.

import type { CommandContext } from "./command.ts";
import { parsePast } from "./duration.ts";
import type { OptionName } from "./options.ts";

export const LIST_FILTERS = [
  "agent",
  "status",
  "error",
  "trace",
  "since",
  "until",
  "limit",
  "cursor",
] as const satisfies readonly OptionName[];

export const filterQuery = ({ flags, io }: Pick<CommandContext, "flags" | "io">) => {
  const moment = (name: "since" | "until"): string | undefined => {
    const text = flags[name];
    return text === undefined ? undefined : parsePast(text, io.now(), `--${name}`).toISOString();
  };
  return {
    agent_id: flags.agent,
    status: flags.status,
    error_code: flags.error,
    trace_id: flags.trace,
    since: moment("since"),
    until: moment("until"),
    limit: flags.limit,
    cursor: flags.cursor,
  };
};
