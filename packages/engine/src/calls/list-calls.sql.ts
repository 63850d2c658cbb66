// Which calls a list holds, newest first: ids sort by time. Each statement finds past calls by one filter that has an index; the
// other filters only leave rows out. Live calls are few, so they are read in the order of their key.
//   $1 project, $2 before this id, $3 limit, $4 from this id on, $5 status, $6 tool, $7 agent, $8 target, $9 error code, each or null.

import type { Statement } from "../sql/database.ts";

/** Without $2, a text that sorts behind every id. */
const BEFORE = "coalesce($2::text, chr(1114111))";
const FROM = "coalesce($4::text, '')";

const within = (alias: string): string => `${alias}.tool_call_id < ${BEFORE} and ${alias}.tool_call_id >= ${FROM}`;

const given = (column: string, at: number): string => `($${at}::text is null or ${column} = $${at}::text)`;

/** What both tables have. */
const SHARED = ["status", "tool_name", "agent_id", "target"] as const;

const others = (alias: string, lead: string | undefined): string =>
  SHARED.map((column, index) => [column, index + 5] as const)
    .filter(([column]) => column !== lead)
    .map(([column, at]) => ` and ${given(`${alias}.${column}`, at)}`)
    .join("");

/** As the indexes have it: the project and the word in one column. */
const inProject = (alias: string, column: string, value: string): string =>
  `(${alias}.project_id || ' ' || ${alias}.${column}) = ($1::text || ' ' || ${value}::text)`;

const LEADS = { tool_name: 6, agent_id: 7, error_code: 9 } as const;

/** The end of each list: the open calls beside the past ones, the newest of both. */
const WITH_LIVE = `  (select l.tool_call_id from state.live_calls l
    where l.project_id = $1 and ${within("l")}${others("l", undefined)} and $9::text is null
    order by l.project_id desc, l.tool_call_id desc
    limit $3::int)
) c
 order by c.tool_call_id desc
 limit $3::int`;

const list = (name: string, lead: keyof typeof LEADS | undefined, also = ""): Statement => {
  const led = lead === undefined ? "p.project_id = $1" : `${inProject("p", lead, `$${LEADS[lead]}`)}${also}`;
  const error = lead === "error_code" ? "" : ` and ${given("p.error_code", 9)}`;
  return {
    name: `calls.list-${name}`,
    text: `
select c.tool_call_id from (
  (select p.tool_call_id from state.past_calls p
    where ${led} and ${within("p")}${others("p", lead)}${error}
    order by ${lead === undefined ? "p.project_id desc, " : ""}p.tool_call_id desc
    limit $3::int)
  union all
${WITH_LIVE}`,
  };
};

export const LIST_ALL = list("all", undefined);
export const LIST_OF_TOOL = list("of-tool", "tool_name");
/** Not for the API's own calls. */
export const LIST_OF_AGENT = list("of-agent", "agent_id", " and p.agent_id <> 'sys.api'");
export const LIST_OF_ERROR = list("of-error", "error_code", " and p.error_code is not null");

// Reads the newest calls of each tool of the target, and of these the newest: a target has few tools.
/** Calls of the tools that are registered for the target. */
export const LIST_OF_TARGET: Statement = {
  name: "calls.list-of-target",
  text: `
select c.tool_call_id from (
  (select p.tool_call_id
     from (select tool_name from resource.tools where project_id = $1 and target = $8::text) t
    cross join lateral (
      select x.tool_call_id from state.past_calls x
       where ${inProject("x", "tool_name", "t.tool_name")} and ${within("x")} and x.target = $8::text
         and ${given("x.status", 5)} and ${given("x.tool_name", 6)} and ${given("x.agent_id", 7)} and ${given("x.error_code", 9)}
       order by x.tool_call_id desc
       limit $3::int) p)
  union all
${WITH_LIVE}`,
};

/**
 * Calls that wait for a service or for a person, the oldest first. $1 project, $2 after this id, $3 limit, $4 made until these
 * milliseconds, $5 tool, $6 target, $7 agent, each or null.
 */
export const LIST_WAITING: Statement = {
  name: "calls.list-waiting",
  text: `
select l.tool_call_id
  from state.live_calls l
 where l.project_id = $1 and l.tool_call_id > $2::text
   and l.status in ('queued', 'awaiting_approval') and l.created_at <= to_timestamp($4::float8 / 1000)
   and ${given("l.tool_name", 5)} and ${given("l.target", 6)} and ${given("l.agent_id", 7)}
 order by l.project_id, l.tool_call_id
 limit $3::int`,
};

/** The trace of a direct call is in the index, or was made in the same moment as the call. */
const direct = (alias: string, trace: string): string => `
   select ${alias}.tool_call_id from state.past_calls ${alias}
    where ${inProject(alias, "trace_id", trace)} and ${alias}.headless
      and "left"(${alias}.trace_id, 10) <> "left"(${alias}.tool_call_id, 10)
   union all
   select ${alias}.tool_call_id from state.past_calls ${alias}
    where ${alias}.project_id = $1 and ${alias}.tool_call_id >= "left"(${trace}::text, 10) and ${alias}.tool_call_id < "left"(${trace}::text, 10) || 'g'
      and ${alias}.trace_id = ${trace}::text and ${alias}.headless
   union all
   select ${alias}.tool_call_id from state.live_calls ${alias}
    where ${alias}.project_id = $1 and ${alias}.tool_call_id > '' and ${alias}.trace_id = ${trace}::text and ${alias}.headless`;

/** Direct calls. $1 project, $2 trace, $3 limit. */
export const DIRECT_OF_TRACE: Statement = {
  name: "calls.direct-of-trace",
  text: `
select c.tool_call_id from (${direct("d", "$2")}) c
 order by c.tool_call_id
 limit $3::int`,
};

/** Direct calls and calls of turns. $1 project, $2 before this id or null, $3 limit, $4 trace. */
export const LIST_OF_TRACE: Statement = {
  name: "calls.list-of-trace",
  text: `
select c.tool_call_id from (${direct("d", "$4")}
   union all
   select x.tool_call_id
     from (select s.agent_turn_id from state.turns s where ${inProject("s", "trace_id", "$4")}) t
    cross join lateral (
      select l.tool_call_id from state.live_calls l
       where l.project_id = $1 and l.agent_turn_id = t.agent_turn_id and not l.headless
      union all
      select p.tool_call_id from state.past_calls p
       where p.project_id = $1 and p.agent_turn_id = t.agent_turn_id and not p.headless) x
) c
 where c.tool_call_id < ${BEFORE}
 order by c.tool_call_id desc
 limit $3::int`,
};

/** The call that has a key: $1 project, $2 agent, $3 tool, $4 key. */
export const LIST_OF_KEY: Statement = {
  name: "calls.list-of-key",
  text: `
select tool_call_id from state.call_keys
 where project_id = $1 and agent_id = $2 and tool_name = $3 and idempotency_key = $4`,
};
