// Everything that a turn writes, in one statement: cards, boxes, steps, heads, turns, inbox rows, applied calls, events and
// wakeups. The caller holds the heads; what is written was decided from what was read under that lock.
//   I3. Events and wakeups are rows of the same commit. Wakeups are rows only where a bus beside the database carries them;
//       elsewhere the inbox row is the queue, and the statement answers whom to ring.
//   A box row is updated before its entries get their places, so appends have one order; an id that is taken by other content
//   fails the whole statement (I7).
//   The statement contains only parts that have rows. Some fifteen combinations occur; each is prepared once per connection
//   under its own name.

import type { Statement } from "../sql/database.ts";
import { type InputFields, type SetInput, setInput } from "../sql/input.sql.ts";
import { SPAWN_COLUMNS, spawnParts } from "./spawn.sql.ts";
import type { PackedWrites } from "./turn-write-rows.sql.ts";
import * as rows from "./turn-write-rows.sql.ts";

const textArray = (json: string): string => `array(select json_array_elements_text(${json}::json))`;

type Part = keyof PackedWrites;
type PartRow<Name extends Part> = PackedWrites[Name][number];

interface PartText<Row> {
  /** In the statement's name. */
  readonly letter: string;
  readonly columns: InputFields<Row>;
  /** The CTEs of the part; `from` is its input under the alias `i`. */
  readonly text: (from: string) => string;
}

const PARTS: { readonly [Name in Part]: PartText<PartRow<Name>> } = {
  spawned: { letter: "n", columns: SPAWN_COLUMNS, text: spawnParts },
  cards: {
    letter: "c",
    columns: rows.cards,
    text: (from) => `
said as (
  insert into cards.cards (project_id, card_id, type, author_id, tool_call_id, agent_turn_id, step_id, hash, body, chain_seq, chain_hash, expires_at)
  select project_id, card_id, type, author_id, tool_call_id, agent_turn_id, step_id, hash, body, chain_seq, chain_hash,
         now() + make_interval(secs => ttl_seconds)
    from ${from}
   order by project_id, card_id
      on conflict (project_id, card_id) do update set hash = excluded.hash where cards.hash <> excluded.hash
)`,
  },
  // `grown` takes one row for each box: an output box belongs to one open turn, and closeLedger writes it once. A second row for the
  // same box would be lost. Its update holds the row of the box, so that appends of different turns follow each other.
  boxes: {
    letter: "b",
    columns: rows.boxes,
    text: (from) => `
made as (
  insert into cards.boxes (project_id, box_id, length)
  select i.project_id, i.box_id, json_array_length(i.card_ids::json) from ${from} where i.fresh
),
filled as (
  insert into cards.box_cards (project_id, box_id, position, card_id)
  select i.project_id, i.box_id, u.place - 1, u.card_id
    from ${from} cross join lateral json_array_elements_text(i.card_ids::json) with ordinality as u (card_id, place)
   where i.fresh
),
grown as (
  update cards.boxes b
     set length = b.length + json_array_length(i.card_ids::json), updated_at = now()
    from ${from}
   where b.project_id = any (array[i.project_id]) and b.box_id = i.box_id and not i.fresh
  returning b.project_id, b.box_id, b.length - json_array_length(i.card_ids::json) as start, i.card_ids
),
appended as (
  insert into cards.box_cards (project_id, box_id, position, card_id)
  select g.project_id, g.box_id, g.start + u.place - 1, u.card_id
    from grown g cross join lateral json_array_elements_text(g.card_ids::json) with ordinality as u (card_id, place)
)`,
  },
  steps: {
    letter: "s",
    columns: rows.steps,
    text: (from) => `
stepped as (
  insert into state.steps as s (project_id, agent_id, step_id, agent_turn_id, channel_id, parent_step_id, trace_id, status, tool_call_ids,
                                new_card_ids, error, metadata, request_hash, outcome, ended_at)
  select project_id, agent_id, step_id, agent_turn_id, channel_id, parent_step_id, trace_id, status,
         ${textArray("coalesce(tool_call_ids, '[]')")}, ${textArray("coalesce(new_card_ids, '[]')")}, error,
         coalesce(metadata, '{}')::jsonb, request_hash, outcome, case when ended then now() end
    from ${from}
      on conflict (project_id, agent_id, step_id) do update
     set status = excluded.status, error = excluded.error, ended_at = excluded.ended_at,
         tool_call_ids = case when cardinality(excluded.tool_call_ids) = 0 then s.tool_call_ids else excluded.tool_call_ids end,
         new_card_ids = s.new_card_ids || excluded.new_card_ids,
         metadata = s.metadata || excluded.metadata,
         request_hash = coalesce(excluded.request_hash, s.request_hash),
         outcome = coalesce(excluded.outcome, s.outcome)
)`,
  },
  heads: {
    letter: "h",
    columns: rows.heads,
    text: (from) => `
moved as (
  update state.heads h
     set status = i.status, active_agent_turn_id = i.active_agent_turn_id, active_channel_id = i.active_channel_id,
         turn_epoch = i.turn_epoch, active_recursion_depth = i.active_recursion_depth, parent_step_id = i.parent_step_id,
         trace_id = i.trace_id, profile_box_id = coalesce(i.profile_box_id, h.profile_box_id), context_box_id = i.context_box_id,
         output_box_id = i.output_box_id, expecting_correlation_id = null, waiting_tool_count = i.waiting_tool_count,
         resume_deadline = case when i.status = 'suspended' then coalesce(
           now() + make_interval(secs => i.resume_seconds),
           case when h.status = 'suspended' and h.active_agent_turn_id = i.active_agent_turn_id then h.resume_deadline end) end,
         chain_seq = i.chain_seq, chain_hash = i.chain_hash,
         last_output_box_id = coalesce(i.last_output_box_id, h.last_output_box_id), updated_at = now()
    from ${from}
   where h.project_id = any (array[i.project_id]) and h.agent_id = i.agent_id
)`,
  },
  touched: {
    letter: "q",
    columns: rows.touched,
    text: (from) => `
waited_for as (
  update state.heads h set updated_at = now()
    from ${from}
   where h.project_id = any (array[i.project_id]) and h.agent_id = i.agent_id
)`,
  },
  turns: {
    letter: "t",
    columns: rows.turns,
    text: (from) => `
turned as (
  update state.turns t
     set status = i.status, step_count = i.step_count, turn_epoch = i.turn_epoch,
         deliverable_card_id = coalesce(i.deliverable_card_id, t.deliverable_card_id), error = i.error, error_code = i.error_code,
         end_claim_id = i.end_claim_id, chain_seq = coalesce(i.chain_seq, t.chain_seq), chain_hash = coalesce(i.chain_hash, t.chain_hash),
         dispatched_at = case when i.dispatched then now() else t.dispatched_at end,
         ended_at = case when i.ended then now() end
    from ${from}
   where t.project_id = any (array[i.project_id]) and t.agent_turn_id = i.agent_turn_id
)`,
  },
  changes: {
    letter: "i",
    columns: rows.changes,
    text: (from) => `
changed as (
  update state.inbox r
     set status = i.status, turn_epoch = coalesce(i.turn_epoch, r.turn_epoch), claim_id = i.claim_id,
         claim_expires_at = now() + make_interval(secs => i.claim_seconds), worker = i.worker,
         retry_count = r.retry_count + i.retries, next_retry_at = now() + make_interval(secs => i.delay_seconds),
         ring_at = now() + case when i.status = 'deferred' then make_interval(secs => i.delay_seconds) else interval '5 seconds' end, rings = 0,
         defer_reason = i.reason, last_error = coalesce(i.error, r.last_error),
         processed_at = case when i.status in ('pending', 'deferred') then null else coalesce(r.processed_at, now()) end,
         archived_at = case when i.status in ('consumed', 'error', 'skipped') then now() end
    from ${from}
   where r.project_id = any (array[i.project_id]) and r.inbox_id = i.inbox_id
)`,
  },
  arrivals: {
    letter: "a",
    columns: rows.arrivals,
    text: (from) => `
landed as (
  insert into state.inbox (project_id, inbox_id, agent_id, channel_id, message_type, correlation_id, agent_turn_id, turn_epoch,
                           context_headers, payload, status, claim_id, claim_expires_at, worker, processed_at)
  select project_id, inbox_id, agent_id, channel_id, message_type, correlation_id, agent_turn_id, turn_epoch, context_headers,
         payload, status, claim_id, now() + make_interval(secs => claim_seconds), worker,
         case when status = 'processing' then now() end
    from ${from}
)`,
  },
  applied: {
    letter: "r",
    columns: rows.applied,
    text: (from) => `
counted as (
  update state.past_calls c
     set applied_at = coalesce(c.applied_at, now()), result_chain_seq = coalesce(i.chain_seq, c.result_chain_seq),
         result_chain_hash = coalesce(i.chain_hash, c.result_chain_hash)
    from ${from}
   where c.project_id = any (array[i.project_id]) and c.tool_call_id = i.tool_call_id
)`,
  },
  messages: {
    letter: "e",
    columns: rows.messages,
    text: (from) => `
told as (
  insert into bus.messages (category, project_id, subject, component, target, headers, payload, message_id)
  select category, project_id, subject, component, target, headers, payload, message_id
    from ${from}
   order by ord
      on conflict (project_id, message_id) where message_id is not null do nothing
)`,
  },
  parcels: {
    letter: "p",
    columns: rows.parcels,
    text: (from) => `
packed as (
  insert into bus.messages (category, project_id, subject, component, target, headers, payload, events)
  select category, project_id, subject, component, target, headers, payload, events
    from ${from}
   order by ord
)`,
  },
  wakeups: {
    letter: "w",
    columns: rows.wakeups,
    text: (from) => `
called as materialized (
  select i.ord, i.project_id, i.agent_id, i.channel_id, i.headers, i.payload, i.message_id, a.worker_target
    from ${from}
    left join resource.agents a on a.project_id = any (array[i.project_id]) and a.agent_id = i.agent_id
)`,
  },
};

/** For a bus beside the database. `version`: the number of the parameter with the protocol's version. */
const rungText = (version: number): string => `
rung as (
  insert into bus.messages (category, project_id, subject, component, target, headers, payload, message_id)
  select 'cmd', project_id, 'cg.' || $${version}::text || '.' || project_id || '.' || channel_id || '.cmd.agent.' || worker_target || '.wakeup',
         'agent', worker_target, headers, payload, message_id
    from called
   where worker_target is not null
   order by ord
      on conflict (project_id, message_id) where message_id is not null do nothing
)`;

const ORDER = Object.keys(PARTS) as readonly Part[];

interface Assembled {
  readonly statement: Statement;
  readonly bind: (writes: PackedWrites, protocolVersion: string) => unknown[];
}

// The version (`xmin`) of every row that this transaction writes.
const VERSION = "pg_current_xact_id()::xid::text as version";

const ANSWER = `
select ${VERSION},
       (select count(*)::int from called where worker_target is null) as unrung,
       (select json_agg(json_build_object('projectId', project_id, 'agentId', agent_id, 'workerTarget', worker_target) order by ord)
          from called where worker_target is not null) as rung`;

const assemble = (parts: readonly Part[], external: boolean): Assembled => {
  let next = 1;
  const inputs: { readonly part: Part; readonly input: SetInput<object> }[] = [];
  const texts: string[] = [];
  for (const part of parts) {
    const { columns, text } = PARTS[part] as unknown as PartText<object>;
    const input = setInput<object>(columns as InputFields<object>, next);
    next = input.next;
    inputs.push({ part, input });
    texts.push(text(input.from));
  }
  const rings = parts.includes("wakeups");
  const publishes = rings && external;
  if (publishes) texts.push(rungText(next));
  return {
    statement: {
      name: `turns.write-${parts.map((part) => PARTS[part].letter).join("")}${publishes ? "-published" : ""}`,
      text: `with ${texts.join(",")}${rings ? ANSWER : `\nselect ${VERSION}, 0 as unrung, null as rung`}`,
    },
    bind: (writes, protocolVersion) => [
      ...inputs.flatMap(({ part, input }) => input.bind(writes[part])),
      ...(publishes ? [protocolVersion] : []),
    ],
  };
};

const assembled = new Map<string, Assembled>();

/** The statement for the lists that have rows; undefined when none has. */
export const writeStatement = (writes: PackedWrites, external: boolean): Assembled | undefined => {
  const parts = ORDER.filter((part) => writes[part].length > 0);
  if (parts.length === 0) return undefined;
  const name = `${parts.join("-")}/${external}`;
  const known = assembled.get(name);
  if (known !== undefined) return known;
  const made = assemble(parts, external);
  assembled.set(name, made);
  return made;
};
