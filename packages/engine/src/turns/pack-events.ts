// What one transaction tells of a turn is one row of the log, a parcel (bus/parcel.sql.ts): one row, one set of headers, one entry in
// each index instead of one for each event. The events keep their order, and each its message id.
//   PE1. No row keeps an event from being written twice: the code that moves a turn holds its head and knows what was told.

import { TURN_PARCEL } from "../bus/parcel.sql.ts";
import type { MessageRow } from "../outbox/messages.sql.ts";
import type { TurnEvent, TurnMessage } from "./turn-event.ts";
import { rowOfEvent } from "./turn-messages.ts";
import type { ParcelRow } from "./turn-write-rows.sql.ts";

/** Far below what a bus carries in one message. */
const MAX_PARCEL_LENGTH = 128 * 1024;

/** An id that a line can hold. Another one is written, or refused, as a message of its own. */
const LINE_ID = /^[\x20-\x7e]{1,256}$/;

interface Parcel {
  readonly first: TurnEvent;
  readonly lines: string[];
  length: number;
}

const isEvent = (message: TurnMessage): message is TurnEvent => "turn" in message;

const rowOf = ({ first, lines }: Parcel): ParcelRow => {
  const { messageId: _, subject, ...row } = rowOfEvent(first);
  return {
    ...row,
    subject: `${subject.slice(0, -first.kind.length)}${TURN_PARCEL}`,
    payload: lines.join("\n"),
    events: lines.length,
  };
};

const agentOf = ({ turn }: TurnEvent): string => `${turn.project_id}/${turn.agent_id}`;

export const packEvents = (told: readonly TurnMessage[]): { messages: MessageRow[]; parcels: ParcelRow[] } => {
  const messages: MessageRow[] = [];
  const parcels: Parcel[] = [];
  // By agent: the parcel that goes on as long as nothing else is told of the agent.
  const open = new Map<string, Parcel>();
  for (const one of told) {
    if (!isEvent(one)) {
      messages.push(one);
      continue;
    }
    const agent = agentOf(one);
    if (!LINE_ID.test(one.messageId)) {
      messages.push(rowOfEvent(one));
      continue;
    }
    // The traceparent is the turn's, and stands in the headers of the row.
    const line = `${one.epoch}\t\t${one.payload}\t${one.kind}\t${one.msgType}\t${one.messageId}`;
    const known = open.get(agent);
    if (
      known !== undefined &&
      known.first.turn.agent_turn_id === one.turn.agent_turn_id &&
      known.length + line.length <= MAX_PARCEL_LENGTH
    ) {
      known.lines.push(line);
      known.length += line.length;
      continue;
    }
    const parcel = { first: one, lines: [line], length: line.length };
    open.set(agent, parcel);
    parcels.push(parcel);
  }
  return { messages, parcels: parcels.map(rowOf) };
};
