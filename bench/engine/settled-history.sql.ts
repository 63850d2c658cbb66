// A past: settled calls as the engine leaves them, made by copying one it really settled. Every id in rows, cards,
// headers and lineage is new; ids are UUIDv7 of the hours before, so they sort like real ones.
//   One in ten is an agent's, with its consumed inbox row; one in ten has an idempotency key; one in fifty failed.
// The columns are asked of the database, so a column that is added later is copied like the others.

const MS_APART = 36;

const uuid = (salt: string): string =>
  `lpad(to_hex($5::bigint + n * ${MS_APART}), 12, '0') || '7' || lpad(to_hex(n % 4096), 3, '0') || '8' || substr(md5('${salt}' || n), 1, 15)`;

/** $1 project of the sample, $2 first number, $3 last number, $4 project to write to, $5 when it began, in ms. */
const MADE = `
with old as materialized (
  select * from state.past_calls where project_id = $1 and headless order by tool_call_id desc limit 1
),
made as materialized (
  select n, ${uuid("call")} as id, ${uuid("card")} as card_id, ${uuid("result")} as result_id,
         to_timestamp(($5::bigint + n * ${MS_APART}) / 1000.0) as at
    from generate_series($2::int, $3::int) n
)`;

/** The text with the ids of this call instead of the sample's. */
const renewed = (text: string): string =>
  `replace(replace(replace(${text}, o.tool_call_id, m.id), o.call_card_id, m.card_id), '"' || o.project_id || '"', '"' || $4::text || '"')`;

const AGENT = "'agent_' || lpad((m.n % 1000)::text, 6, '0')";

type Expressions = Readonly<Record<string, string>>;

const ids: Expressions = {
  project_id: "$4::text",
  tool_call_id: "m.id",
  agent_turn_id: "'turn_' || m.id",
  step_id: "'step_' || m.id",
};

const callColumns: Expressions = {
  ...ids,
  subject: "replace(o.subject, '.' || o.project_id || '.', '.' || $4::text || '.')",
  call_card_id: "m.card_id",
  result_card_id: "m.result_id",
  headers: renewed("o.headers"),
  lineage: renewed("o.lineage"),
  agent_id: `case when m.n % 10 = 3 then ${AGENT} else o.agent_id end`,
  headless: "m.n % 10 <> 3",
  idempotency_key: "case when m.n % 10 = 7 then 'key-' || m.id end",
  status: "case when m.n % 50 = 0 then 'failed' else 'success' end",
  arguments_hash: "md5(m.id) || md5(m.card_id)",
  call_card_hash: "md5(m.card_id) || md5(m.id)",
  result_hash: "md5(m.result_id) || md5(m.id)",
  created_at: "m.at",
  available_at: "m.at",
  started_at: "m.at + interval '5 milliseconds'",
  settled_at: "m.at + interval '20 milliseconds'",
  queue_deadline: "m.at + interval '1 day'",
  lease_expires_at: "m.at + interval '15 seconds'",
  run_deadline: "m.at + interval '30 seconds'",
};

const cardColumns = (id: string): Expressions => ({
  ...ids,
  card_id: id,
  hash: `md5(${id}) || md5(m.id)`,
  written_at: "m.at",
  body: `replace(${renewed("k.body")}, k.card_id, ${id})`,
});

const insert = (table: string, columns: readonly string[], expressions: Expressions, from: string): string => `${MADE}
insert into ${table} (${columns.join(", ")})
select ${columns.map((column) => expressions[column] ?? `${from}.${column}`).join(", ")}
  from old o cross join made m${from === "k" ? " cross join card k" : ""}
 order by m.n`;

const withCard = (card: string, statement: string): string =>
  statement.replace(
    "\ninsert into",
    `,
card as materialized (select k.* from cards.cards k join old o on k.project_id = o.project_id and k.card_id = o.${card})
insert into`,
  );

export const makeCalls = (columns: readonly string[]): string => insert("state.past_calls", columns, callColumns, "o");

export const makeCallCards = (columns: readonly string[]): string =>
  withCard("call_card_id", insert("cards.cards", columns, cardColumns("m.card_id"), "k"));

export const makeResultCards = (columns: readonly string[]): string =>
  withCard("result_card_id", insert("cards.cards", columns, cardColumns("m.result_id"), "k"));

export const MAKE_KEYS = `${MADE}
insert into state.call_keys (project_id, agent_id, tool_name, idempotency_key, tool_call_id)
select $4::text, o.agent_id, o.tool_name, 'key-' || m.id, m.id
  from old o cross join made m
 where m.n % 10 = 7`;

/** The inbox rows of the agents' calls, consumed long ago. */
export const MAKE_INBOX = `${MADE}
insert into state.inbox (project_id, inbox_id, agent_id, channel_id, message_type, correlation_id, agent_turn_id, turn_epoch,
                         context_headers, payload, status, processed_at, created_at)
select $4::text, 'inbox_' || m.result_id, ${AGENT}, o.channel_id, 'tool_result', m.id, 'turn_' || m.id, 1,
       ${renewed("o.headers")}, '{"tool_result_card_id":"' || m.result_id || '"}', 'consumed', m.at, m.at
  from old o cross join made m
 where m.n % 10 = 3`;

/** $1 schema, $2 table. */
export const READ_COLUMNS = `
select column_name from information_schema.columns where table_schema = $1 and table_name = $2 order by ordinal_position`;

/** $1 how many, named `past_<n>`. */
export const MAKE_PROJECTS = `
insert into resource.projects (project_id, title, owner_id)
select 'past_' || n, 'Past', 'sys.bench' from generate_series(1, $1::int) n on conflict do nothing`;

export const BRING_STATISTICS_UP_TO_DATE = ["state.past_calls", "state.call_keys", "cards.cards", "state.inbox"].map(
  (table) => `vacuum (analyze) ${table}`,
);
