// What a check of a history reads: one statement per turn, so that retention cannot delete anything in between. The database itself
// hashes the texts of cards, so a turn of any size can be checked without reading its cards into this process.

import type { Statement } from "../sql/database.ts";
import { rowsOf } from "../turns/hold.sql.ts";

const ACTUAL = "encode(sha256(convert_to(k.body, 'UTF8')), 'hex') as actual";

/** A card by its id; `actual` is the hash its text has, `hash` the one it was stored with. */
const cardBy = (id: string): string => `
  (select row_to_json(x) from (
     select k.card_id, k.type, k.hash, ${ACTUAL}, k.chain_seq, k.chain_hash from cards.cards k where k.project_id = $1 and k.card_id = ${id}) x)`;

export interface StoredCard {
  readonly card_id: string;
  readonly type: string;
  readonly hash: string;
  readonly actual: string;
  readonly chain_seq: number | null;
  readonly chain_hash: string | null;
}

export interface StoredCall {
  readonly tool_call_id: string;
  readonly settled: boolean;
  readonly call_card_id: string;
  readonly call_card_hash: string;
  readonly chain_hash: string | null;
  readonly approval_hash: string | null;
  readonly result_chain_seq: number | null;
  readonly result_chain_hash: string | null;
  readonly result_card_id: string | null;
  readonly call_card: StoredCard | null;
  readonly approval: StoredCard | null;
  readonly result: StoredCard | null;
}

const CALL_COLUMNS = `
  c.tool_call_id, c.settled_at is not null as settled, c.call_card_id, c.call_card_hash, c.chain_hash, c.approval_hash,
  c.result_chain_seq, c.result_chain_hash, c.result_card_id, ${cardBy("c.call_card_id")} as call_card,
  case when c.approval_hash is not null then ${cardBy("'approval_' || c.tool_call_id")} end as approval,
  case when c.result_card_id is not null then ${cardBy("c.result_card_id")} end as result`;

export interface StoredTurn {
  readonly agent_id: string;
  readonly kind: string;
  readonly source_agent_id: string;
  readonly payload: string;
  readonly runtime_config: string;
  readonly metadata: string;
  readonly ended: boolean;
  readonly chain_version: 1 | 2;
  readonly task_hash: string | null;
  readonly context_box_id: string;
  readonly context_cards: number;
  readonly context_hash: string | null;
  /** Where the chain is: the turn's row once it has ended, its agent's head before. */
  readonly chain_seq: number | null;
  readonly chain_hash: string | null;
  /** The first so many cards of its context box; a card that is named and does not exist has no hash. */
  readonly context: readonly {
    readonly card_id: string;
    readonly hash: string | null;
    readonly actual: string | null;
  }[];
  readonly cards: readonly StoredCard[];
  readonly calls: readonly StoredCall[];
}

// Every card that a turn said is in one of these: in a step, among the cards written for it, in its output, or the deliverable.
// The order of a box leads to it by its key; without it the planner may choose the index of cards while tables are small.
// Cards without a turn (what a brain was given) are those of its steps, and of its own context behind what it was given.
const SAID = `
  select k.card_id, k.type, k.hash, ${ACTUAL}, k.chain_seq, k.chain_hash
    from (select unnest(s.new_card_ids) as card_id, true as own from state.steps s
           where s.project_id = $1 and s.agent_turn_id = t.agent_turn_id
          union
          (select b.card_id, true from cards.box_cards b
            where b.project_id = $1 and b.box_id = t.context_box_id and b.position >= t.context_cards and t.context_owned
            order by b.project_id, b.box_id, b.position offset 0)
          union
          (select b.card_id, false from cards.box_cards b where b.project_id = $1 and b.box_id = t.output_box_id
            order by b.project_id, b.box_id, b.position offset 0)
          union
          select q.call_card_id, false from state.calls q
           where q.project_id = $1 and q.agent_turn_id = t.agent_turn_id and not q.headless
          union
          select t.deliverable_card_id, false) n
   cross join lateral (
     select q.* from cards.cards q where q.project_id = $1 and q.card_id = n.card_id offset 0) k
   where k.chain_seq is not null and (k.agent_turn_id = t.agent_turn_id or (n.own and k.agent_turn_id is null))
   group by k.card_id, k.type, k.hash, k.body, k.chain_seq, k.chain_hash
   order by k.chain_seq, k.card_id`;

/** $1 project, $2 turn. */
export const READ_TURN_HISTORY: Statement = {
  name: "history.read-turn",
  text: `
select t.agent_id, t.kind, t.source_agent_id, t.payload, t.runtime_config, t.metadata, t.ended_at is not null as ended, t.chain_version,
       t.task_hash, t.context_box_id, t.context_cards, t.context_hash,
       case when t.ended_at is null and h.chain_hash is not null then h.chain_seq else t.chain_seq end as chain_seq,
       case when t.ended_at is null and h.chain_hash is not null then h.chain_hash else t.chain_hash end as chain_hash,
       ${rowsOf(`select b.card_id, k.hash, ${ACTUAL}
                   from cards.box_cards b
                   left join lateral (
                     select q.hash, q.body from cards.cards q where q.project_id = $1 and q.card_id = b.card_id offset 0) k on true
                  where b.project_id = $1 and b.box_id = t.context_box_id and b.position < t.context_cards
                  order by b.project_id, b.box_id, b.position`)} as context,
       ${rowsOf(SAID)} as cards,
       ${rowsOf(`select ${CALL_COLUMNS} from state.calls c
                  where c.project_id = $1 and c.agent_turn_id = t.agent_turn_id and not c.headless`)} as calls
  from state.turns t
  left join lateral (
    select q.chain_seq, q.chain_hash from state.heads q
     where q.project_id = $1 and q.agent_id = t.agent_id and q.active_agent_turn_id = t.agent_turn_id offset 0) h on true
 where t.project_id = $1 and t.agent_turn_id = $2`,
};

/** $1 project, $2 call. */
export const READ_CALL_HISTORY: Statement = {
  name: "history.read-call",
  text: `select ${CALL_COLUMNS} from state.calls c where c.project_id = $1 and c.tool_call_id = $2 and c.headless`,
};
