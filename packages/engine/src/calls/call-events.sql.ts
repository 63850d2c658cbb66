// The events of calls (evt.agent.{agent}.call), written by the statement that changes the call. The events of one statement are one parcel for
// each agent and channel. An event has the place in the log that its statement gives it, so the events of a call stand in the
// order in which they happened.

import { HEADERS, PROTOCOL_VERSION } from "@toolplane/protocol";
import type { CallPhase } from "@toolplane/protocol/agents";
import { FIELD_END, LINE_END } from "../bus/parcel.sql.ts";
import { SENDER } from "../outbox/wakeup-headers.ts";

export interface Told {
  /** A phase, or an expression that gives one. */
  readonly phase: CallPhase | { readonly sql: string };
  /** Expressions over the call's row: its status after the change, and the number of its lease. */
  readonly status: string;
  readonly attempt: string;
  /** An expression for the code of the error, null without one; absent: the phase has none. */
  readonly errorCode?: string | undefined;
  /** A condition; absent: always. */
  readonly when?: string | undefined;
}

/** The command of a call of a service that never leases was let pass: the call runs, as far as the plane can know, under no lease. */
export const TOLD_SENT: Told = { phase: "leased", status: "'running'", attempt: "0" };

// An uncorrelated subquery: asked once for a statement, however many calls it tells of.
const AT = `(select to_char(clock_timestamp() at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"'))`;

// Out of the text of JSON.stringify, where this name in quotes cannot be part of a value: reading it as JSON was a third of the cost.
const traceparentOf = (call: string): string =>
  `split_part(split_part(${call}.headers, '"${HEADERS.traceparent}":"', 2), '"', 1)`;

const errorOf = (code: string | undefined): string =>
  code === undefined ? "" : `coalesce(',"error_code":' || to_json(${code})::text, '') || `;

/** The parts of a line that never change: of a row that `eventLine` has given them, or made of a call's own columns. */
interface LineParts {
  readonly before: string;
  readonly after: string;
}

export const givenParts = (row: string): LineParts => ({ before: `${row}.line_before`, after: `${row}.line_after` });

const partsOf = (call: string): LineParts => ({
  before: `${call}.turn_epoch || ${FIELD_END} || ${traceparentOf(call)} || ${FIELD_END} || '{"agent_turn_id":' || to_json(${call}.agent_turn_id)::text || ',"at":"'`,
  after: `'","tool_call_id":' || to_json(${call}.tool_call_id)::text || ',"tool_name":"' || ${call}.tool_name || '"}'`,
});

// Members in canonical order (RFC 8785). A status needs no escaping.
const lineOf = ({ before, after }: LineParts, { phase, status, attempt, errorCode }: Told): string => `
  ${before} || ${AT} || '","attempt":' || ${attempt} || ${errorOf(errorCode)}',"phase":"' || ${typeof phase === "string" ? `'${phase}'` : phase.sql}
  || '","status":"' || ${status} || ${after}`;

const linesOf = (parts: LineParts, told: readonly Told[]): string => {
  const lines = told.map((one) =>
    one.when === undefined ? lineOf(parts, one) : `case when ${one.when} then ${lineOf(parts, one)} end`,
  );
  return lines.length === 1 ? lines.join("") : `concat_ws(${LINE_END}, ${lines.join(", ")})`;
};

const countOf = (told: readonly Told[]): string =>
  told.map(({ when }) => (when === undefined ? "1" : `(${when})::int`)).join(" + ");

// The labels of `streamToken`: an agent's id is a token of subjects, the name of a part of the plane becomes one.
const TOKEN = "regexp_replace(e.agent_id, '[^A-Za-z0-9_-]+', '_', 'g')";

const HEADERS_TEXT = `json_build_object('${HEADERS.projectId}', e.project_id, '${HEADERS.channelId}', e.channel_id,
    '${HEADERS.agentId}', e.agent_id, '${HEADERS.timestamp}', trunc(extract(epoch from clock_timestamp()) * 1000)::text,
    '${HEADERS.version}', '${PROTOCOL_VERSION}', '${HEADERS.msgType}', 'AgentCallPayload', '${HEADERS.sender}', '${SENDER}')::text`;

/** The INSERT that tells of the rows of `from`: calls under the alias `call`, with an `ord`. */
export const tellOf = (from: string, call: string, told: readonly Told[], parts = partsOf(call)): string => `
  insert into bus.messages (category, project_id, subject, component, target, headers, payload, events)
  select 'evt', e.project_id, 'cg.${PROTOCOL_VERSION}.' || e.project_id || '.' || e.channel_id || '.evt.agent.' || ${TOKEN} || '.call',
         'agent', ${TOKEN}, ${HEADERS_TEXT}, string_agg(e.lines, ${LINE_END} order by e.nth), sum(e.told)
    from (select ${call}.project_id, ${call}.channel_id, ${call}.agent_id, ${call}.ord as nth, ${linesOf(parts, told)} as lines,
                 ${countOf(told)} as told
            from ${from}) e
   group by e.project_id, e.channel_id, e.agent_id`;
