// A tool's `session_id` is an alias its caller chose; it names a session of that caller alone (D-26).
// The real key joins it with its owner. It is written as a JSON list: with a separator, two different pairs could give one key.

import { ToolplaneError } from "../errors/toolplane-error.ts";
import { isStorable } from "../json/storable-text.ts";

export interface SessionOwner {
  readonly projectId: string;
  readonly agentId: string;
  /** The tool host whose state it is, where hosts must not share state. */
  readonly host?: string | undefined;
}

/** It is stored with every state of a session and shown in lists. */
const MAX_ALIAS_LENGTH = 200;

export const sessionKey = ({ projectId, agentId, host }: SessionOwner, alias: string): string => {
  if (alias.trim() === "" || alias.length > MAX_ALIAS_LENGTH || !isStorable(alias)) {
    throw new ToolplaneError("bad_request", `session_id must be 1 to ${MAX_ALIAS_LENGTH} readable characters`);
  }
  return JSON.stringify(host === undefined ? [projectId, agentId, alias] : [projectId, agentId, alias, host]);
};
