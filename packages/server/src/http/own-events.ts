// Which events a caller may see. Callers that are not bound to an agent see all. An agent's token sees events about its agent and
// about its own turns; the owners of turns are looked up once for a page of events and then remembered.

import { isTokenActor } from "@toolplane/engine";
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

/** The subject names the agent. Parts of the plane are named by labels that an agent could also have as its id; a token's is unguessable. */
const isAbout = (self: string, { subject }: SeenEvent): boolean => {
  const isNamed = !isTrustedActor(self) || isTokenActor(self);
  const parsed = isNamed ? tryParseSubject(subject) : undefined;
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
