// The parts of an event of a call that never change, as text. A statement that changes a call puts the time, the phase, the attempt and the status
// between them: to make the whole line in SQL was a tenth of the statement's time.

import { HEADERS } from "@toolplane/protocol";

interface Named {
  readonly turnEpoch: number;
  readonly agentTurnId: string;
  readonly toolCallId: string;
  readonly toolName: string;
}

export interface EventLine {
  /** Up to the time: the epoch, the traceparent, the beginning of the payload. */
  readonly lineBefore: string;
  /** From behind the status to the end of the payload. */
  readonly lineAfter: string;
}

/** Members in canonical order (RFC 8785). A tool's name needs no escaping. */
export const eventLine = (call: Named, headers: Readonly<Record<string, string>>): EventLine => ({
  lineBefore: `${call.turnEpoch}\t${headers[HEADERS.traceparent] ?? ""}\t{"agent_turn_id":${JSON.stringify(call.agentTurnId)},"at":"`,
  lineAfter: `","tool_call_id":${JSON.stringify(call.toolCallId)},"tool_name":"${call.toolName}"}`,
});
