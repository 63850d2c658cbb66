// The log line for values that a caller sent and a definition replaced (UTP 5.3): names only, because the value may be a key.
// A model that sends such a value sends it with every call, so the same caller of the same version is named once.

import type { Log } from "../ports/log.ts";
import { createRecent } from "../recent/recent.ts";
import type { DispatchRow } from "./dispatch.sql.ts";

type Made = Pick<DispatchRow, "projectId" | "agentId" | "toolName" | "toolCallId" | "definitionHash">;

export type SayDropped = (call: Made, names: readonly string[]) => void;

/** A fact that was forgotten is said again. */
const MAX_SAID = 1_000;

export const createSayDropped = (log: Log): SayDropped => {
  const said = createRecent<true>(MAX_SAID);
  return ({ projectId, agentId, toolName, toolCallId, definitionHash }, names) => {
    const fact = JSON.stringify([projectId, agentId, definitionHash, names]);
    if (said.get(fact) === true) return;
    said.set(fact, true);
    log.warn("values that a caller sent were dropped: the tool's definition sets these arguments itself", {
      projectId,
      tool: toolName,
      arguments: names.join(", "),
      agent: agentId,
      call: toolCallId,
    });
  };
};
