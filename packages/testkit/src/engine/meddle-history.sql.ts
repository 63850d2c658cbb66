// What tests do to a history, past the engine: what a person with the database's password could do. Cards refuse changes by a
// trigger, so it is switched off for the statement.

const UNGUARDED = "with off as materialized (select set_config('session_replication_role', 'replica', true))";

export const MEDDLE_HISTORY = {
  ageSettlements: "update state.past_calls set settled_at = settled_at - interval '40 days'",
  ageTombstones: "update state.tombstones set forgotten_at = forgotten_at - interval '400 days'",
  /** $1 turn: it was given nothing. */
  forgeContext: "update state.turns set context_cards = 0, context_hash = null where agent_turn_id = $1",
  /** $1 card: another text under the old hash. */
  changeCardText: `${UNGUARDED} update cards.cards set body = body || ' ' from off where card_id = $1`,
  /** $1 card: another text, and its hash. */
  forgeCard: `${UNGUARDED}
update cards.cards set body = body || ' ', hash = encode(sha256(convert_to(body || ' ', 'UTF8')), 'hex') from off where card_id = $1`,
  loseCard: "delete from cards.cards where card_id = $1",
  /** $1, $2 cards: each has the other's link. */
  swapLinks: `${UNGUARDED}
update cards.cards k set chain_seq = o.chain_seq, chain_hash = o.chain_hash
  from off, cards.cards o where k.card_id = any (array[$1, $2]) and o.card_id = any (array[$1, $2]) and o.card_id <> k.card_id`,
  forgePayload: `update state.turns set payload = '{"amount":1000}' where agent_turn_id = $1`,
  /** A decision that never was: the call does not know of it any more. */
  hideDecision: "update state.past_calls set approval_hash = null where tool_call_id = $1",
  forgeEnd: "update state.turns set chain_hash = repeat('0', 64) where agent_turn_id = $1",
  forgeCallEnd: "update state.past_calls set result_chain_hash = repeat('0', 64) where tool_call_id = $1",
  unlinkResult: "update state.past_calls set result_chain_seq = null, result_chain_hash = null where tool_call_id = $1",
  shuffleContext: `
update cards.box_cards set position = -1 - position where box_id = (select context_box_id from state.turns where agent_turn_id = $1) and position < 2`,
} as const;
