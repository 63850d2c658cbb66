// Which call: its id, or `last` for the newest one of the project, so that a person need not copy 39 characters.

import { ToolplaneError } from "@toolplane/protocol";
import { pathOf } from "@toolplane/sdk/client";
import { itemsOf, parseText } from "./body.ts";
import type { CommandContext } from "./command.ts";

const LAST = "last";

export const resolveCallId = async ({ args, client, project }: CommandContext): Promise<string> => {
  const given = args[0] ?? "";
  if (given !== LAST) return given;
  const [newest] = itemsOf(await client.request({ path: pathOf("projects", project, "calls"), query: { limit: 1 } }));
  if (newest === undefined) throw new ToolplaneError("not_found", `project ${project} has no calls yet`);
  return parseText(newest, "tool_call_id");
};
