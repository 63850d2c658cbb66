// Which events a caller may see. Whoever is not bound by ownership sees all. An agent's token sees what is said about its
// agent, and about turns that are its own; whose a turn is, is asked once for a page of events and then remembered.

import { HEADERS, isRecord, isTrustedActor, streamToken, tryParseSubject } from "@toolplane/protocol";
import type { Own } from "./own.ts";

export interface SeenEvent {
  readonly subject: string;
  readonly headers?: Readonly<Record<string, string>> | undefined;
  readonly payload: unknown;
}

const turnOf = ({ headers, payload }: SeenEvent): string | undefined => {
  const said = headers?.[HEADERS.turnId] ?? (isRecord(payload) ? payload.agent_turn_id : undefined);
  return typeof said === "string" ? said : undefined;
};

/** The subject names the agent; one of the plane's parts is named by a label that an agent could have as its id. */
const isAbout = (self: string, { subject }: SeenEvent): boolean => {
  const parsed = isTrustedActor(self) ? undefined : tryParseSubject(subject);
  return parsed?.component === "agent" && parsed.target === streamToken(self);
};

export const ownEvents = async <Event extends SeenEvent>(
  own: Own,
  events: readonly Event[],
): Promise<readonly Event[]> => {
  const { self } = own;
  if (self === undefined || events.length === 0) return events;
  const others = events.filter((event) => !isAbout(self, event)).map(turnOf);
  const turns = await own.turnsOfStream(others.filter((turn) => turn !== undefined));
  return events.filter((event) => isAbout(self, event) || turns.has(turnOf(event) ?? ""));
};
