// Cards are checked: bodies match their hashes, the hashes form a chain over what was said and which results were read, and every
// call has exactly its own two cards (and candidates that were written and not used). Everything is computed again from the
// bodies.

import { createHash } from "node:crypto";
import { cardName, type Facts } from "./facts.ts";
import { type Found, groupBy } from "./findings.ts";
import type { CallRow, CardRow, TurnRow } from "./tables.ts";

const sha256 = (text: string): string => createHash("sha256").update(text).digest("hex");

/** RFC 8785 for values that came out of JSON.parse. */
const canonical = (value: unknown): string => {
  if (Array.isArray(value)) return `[${value.map(canonical).join(",")}]`;
  if (typeof value !== "object" || value === null) return JSON.stringify(value);
  const fields = Object.entries(value).sort(([a], [b]) => (a < b ? -1 : a > b ? 1 : 0));
  return `{${fields.map(([name, field]) => `${JSON.stringify(name)}:${canonical(field)}`).join(",")}}`;
};

interface Body {
  readonly card_id: string;
  readonly project_id: string;
  readonly type: string;
  readonly author_id: string;
  readonly tool_call_id: string | null;
  readonly content: { readonly status?: string; readonly after_execution?: string };
  readonly metadata: { readonly prompt_card_id?: string; readonly tools_card_id?: string };
}

const bodyOf = (card: CardRow): Body => JSON.parse(card.body) as Body;

const checkBodies = (facts: Facts): Found =>
  facts.tables.cards.flatMap((card): Found => {
    const name = cardName(card);
    const found: (readonly ["broken" | "orphaned", string])[] = [];
    const body = bodyOf(card);
    if (sha256(card.body) !== card.hash) found.push(["broken", `card ${name} does not have its hash`]);
    if (canonical(body) !== card.body) found.push(["broken", `card ${name} is not canonical`]);
    for (const column of ["card_id", "project_id", "type", "author_id", "tool_call_id"] as const)
      if (body[column] !== card[column]) found.push(["broken", `card ${name} and its column ${column} differ`]);
    if (card.tool_call_id !== null && !facts.calls.has(card.tool_call_id))
      found.push(["orphaned", `card ${name} (${card.type}) belongs to call ${card.tool_call_id}, which is not there`]);
    return found;
  });

const checkCallCard = (facts: Facts, call: CallRow): Found => {
  const card = facts.cards.get(`${call.project_id}/${call.call_card_id}`);
  if (card === undefined) return [["lost", `call ${call.tool_call_id} has no tool.call card`]];
  if (card.hash !== call.call_card_hash || card.chain_hash !== call.chain_hash || card.type !== "tool.call")
    return [["broken", `call ${call.tool_call_id} and its card differ`]];
  return [];
};

const checkResultCards = (facts: Facts, call: CallRow): Found => {
  const cards = (facts.cardsOfCalls.get(call.tool_call_id) ?? []).filter((card) => card.type === "tool.result");
  const made = cards.filter((card) => !card.candidate && card.card_id !== call.result_card_id);
  const found: (readonly ["lost" | "doubled" | "broken", string])[] = made.map((card) => [
    "doubled",
    `call ${call.tool_call_id} has result ${call.result_card_id} and also ${card.card_id}`,
  ]);
  if (call.result_card_id === null) return found;
  const card = facts.cards.get(`${call.project_id}/${call.result_card_id}`);
  if (card === undefined) return [...found, ["lost", `the result of call ${call.tool_call_id} is not there`]];
  const { content } = bodyOf(card);
  if (card.tool_call_id !== call.tool_call_id || card.type !== "tool.result")
    found.push(["broken", `call ${call.tool_call_id} points to a card of something else`]);
  if (content.status !== call.status || content.after_execution !== call.after_execution)
    found.push(["broken", `call ${call.tool_call_id} and its result differ`]);
  if (sha256(canonical(content)) !== call.result_hash)
    found.push(["broken", `call ${call.tool_call_id} does not have its result's hash`]);
  if (card.author_id !== call.settled_by)
    found.push([
      "broken",
      `call ${call.tool_call_id} was settled by ${call.settled_by}, its card by ${card.author_id}`,
    ]);
  return found;
};

interface Link {
  readonly turn: string;
  readonly name: string;
  readonly linked: string;
  readonly seq: number;
  /** The task and a decision are linked without a note of it. */
  readonly hash: string | null | undefined;
}

/** What a brain was given is on cards that name no turn; the turn's thought names them. */
const turnsByThought = (facts: Facts): ReadonlyMap<string, string | null> =>
  new Map(
    facts.tables.cards
      .filter(({ type }) => type === "agent.thought")
      .flatMap((thought) => {
        const { prompt_card_id: prompt, tools_card_id: tools } = bodyOf(thought).metadata;
        return [prompt, tools].flatMap((id) =>
          id === undefined ? [] : [[`${thought.project_id}/${id}`, thought.agent_turn_id] as const],
        );
      }),
  );

/** What the caller of a turn added is on cards that need not name it; they are in the turn's own context. */
const turnsByOpening = (facts: Facts): ReadonlyMap<string, string> =>
  new Map(
    facts.tables.turns.flatMap(({ project_id, agent_turn_id, opening_cards }) =>
      opening_cards.map((id) => [`${project_id}/${id}`, agent_turn_id] as const),
    ),
  );

const linksOf = (facts: Facts): readonly Link[] => {
  const nameless = new Map([...turnsByThought(facts), ...turnsByOpening(facts)]);
  const turnOf = (card: CardRow): string =>
    `${card.project_id}/${card.agent_turn_id ?? nameless.get(cardName(card)) ?? null}`;
  return [...taskLinks(facts), ...saidLinks(facts, turnOf), ...citedLinks(facts)];
};

const taskText = (turn: TurnRow): string => {
  const { agent_id, kind, source_agent_id, payload, runtime_config, metadata, context_cards, context_hash } = turn;
  return canonical({ agent_id, kind, source_agent_id, payload, runtime_config, metadata, context_cards, context_hash });
};

const taskLinks = (facts: Facts): readonly Link[] =>
  facts.tables.turns
    .filter(({ chain_version }) => chain_version > 1)
    .map((turn) => {
      const name = `${turn.project_id}/${turn.agent_turn_id}`;
      return { turn: name, name: `task of ${name}`, linked: sha256(taskText(turn)), seq: 1, hash: undefined };
    });

const saidLinks = (facts: Facts, turnOf: (card: CardRow) => string): readonly Link[] =>
  facts.tables.cards.flatMap((card): Link[] =>
    card.chain_seq === null
      ? []
      : [
          {
            turn: turnOf(card),
            name: `card ${card.card_id}`,
            linked: card.hash,
            seq: card.chain_seq,
            hash: card.chain_hash,
          },
        ],
  );

const citedLinks = (facts: Facts): readonly Link[] =>
  facts.tables.calls.flatMap((call): Link[] => {
    const card = facts.cards.get(`${call.project_id}/${call.result_card_id}`);
    const seq = call.result_chain_seq;
    if (card === undefined || seq === null) return [];
    const turn = `${call.project_id}/${call.agent_turn_id}`;
    const result = { turn, name: `card ${card.card_id}`, linked: card.hash, seq, hash: call.result_chain_hash };
    if (call.approval_hash === null) return [result];
    const approval = facts.cards.get(`${call.project_id}/approval_${call.tool_call_id}`);
    const name = `the decision about ${call.tool_call_id}`;
    return [{ turn, name, linked: approval?.hash ?? "", seq: seq - 1, hash: undefined }, result];
  });

/** Where the row of a turn, or of the direct call that is one, says that its chain has ended. */
const endsOf = (facts: Facts): ReadonlyMap<string, { readonly seq: number | null; readonly hash: string | null }> =>
  new Map([
    ...facts.tables.turns
      .filter(({ ended }) => ended)
      .map(
        (turn) => [`${turn.project_id}/${turn.agent_turn_id}`, { seq: turn.chain_seq, hash: turn.chain_hash }] as const,
      ),
    ...facts.tables.calls
      .filter(({ headless, settled }) => headless && settled)
      .map((call) => {
        const end = { seq: call.result_chain_seq, hash: call.result_chain_hash };
        return [`${call.project_id}/${call.agent_turn_id}`, end] as const;
      }),
  ]);

/** Links follow each other without a gap from the turn's own start to its end. */
const checkChains = (facts: Facts): Found => {
  const versions = new Map(
    facts.tables.turns.map((turn) => [`${turn.project_id}/${turn.agent_turn_id}`, turn.chain_version]),
  );
  const ends = endsOf(facts);
  return [...groupBy(linksOf(facts), (link) => link.turn)].flatMap(([turn, links]): Found => {
    const [project, id] = turn.split("/");
    let end = sha256(`toolplane chain ${versions.get(turn) ?? 2}\n${project}\n${id}`);
    const ordered = [...links].sort((a, b) => a.seq - b.seq);
    for (const [index, { name, linked, seq, hash }] of ordered.entries()) {
      end = sha256(`${end}\n${linked}`);
      if (seq !== index + 1 || (hash !== undefined && hash !== end))
        return [["broken", `the chain of turn ${turn} breaks at ${name}`]];
    }
    const stated = ends.get(turn);
    if (stated !== undefined && (stated.hash !== end || stated.seq !== ordered.length))
      return [["broken", `turn ${turn} cites another chain`]];
    return [];
  });
};

export const checkCards = (facts: Facts): Found => [
  ...checkBodies(facts),
  ...facts.tables.calls.flatMap((call) => [...checkCallCard(facts, call), ...checkResultCards(facts, call)]),
  ...checkChains(facts),
];
