// Checks a history: the chain is computed again from the rows and cards, and the first link that does not match is named. Pure.

import {
  type ChainKey,
  type ChainLink,
  type ChainVersion,
  chainStart,
  extendChain,
  type Sha256,
} from "../calls/turn-chain.ts";
import { contextOfHashes, NO_CARD, taskHash } from "../turns/plan-opening.ts";
import type { StoredCall, StoredCard, StoredTurn } from "./history.sql.ts";

/** What a link is made of. `end` is not a link: it is what the row of the turn or call says the chain ended with. */
export type LinkKind = "task" | "context" | "card" | "approval" | "result" | "end";

export interface BrokenLink {
  readonly seq: number;
  readonly what: LinkKind;
  /** The card, or the turn or call whose row it is; null for a link of which nothing is left. */
  readonly id: string | null;
  readonly why: string;
}

export interface Verdict {
  readonly version: ChainVersion;
  /** False: the chain is checked as far as it has come. */
  readonly ended: boolean;
  readonly links: number;
  /** Where the chain ends, made again; null when it is broken. */
  readonly head: string | null;
  readonly broken: BrokenLink | undefined;
  /** Cards of other turns that this one was given and that are not there any more: retention takes them with their turns. */
  readonly gone: readonly string[];
}

interface Link {
  readonly seq: number;
  readonly what: LinkKind;
  readonly id: string;
  readonly linked: string;
  /** The link as it was stored with what it links; undefined where only a later link tells. */
  readonly stated: string | null | undefined;
  readonly fault: string | undefined;
}

const TEXT = "its text does not have the hash it was stored with";
const GONE = "it is not there any more";

const textFault = ({ hash, actual }: StoredCard): string | undefined => (hash === actual ? undefined : TEXT);

const cardLink = (card: StoredCard): Link => ({
  seq: card.chain_seq ?? 0,
  what: "card",
  id: card.card_id,
  linked: card.hash,
  stated: card.chain_hash,
  fault: textFault(card),
});

const approvalFault = (call: StoredCall): string | undefined => {
  if (call.approval === null) return GONE;
  return textFault(call.approval) ?? (call.approval.hash === call.approval_hash ? undefined : "its call names another");
};

/** A decision takes its place right before the result it led to. */
const resultLinks = (call: StoredCall): readonly Link[] => {
  const seq = call.result_chain_seq;
  if (seq === null) return [];
  const { result, tool_call_id: id } = call;
  const link: Link = {
    seq,
    what: "result",
    id: call.result_card_id ?? id,
    linked: result?.hash ?? "",
    stated: call.result_chain_hash ?? undefined,
    fault: result === null ? GONE : textFault(result),
  };
  if (call.approval_hash === null) return [link];
  const approval = { what: "approval", id: `approval_${id}`, linked: call.approval_hash, stated: undefined } as const;
  return [{ ...approval, seq: seq - 1, fault: approvalFault(call) }, link];
};

/** What a call's row says of its card, which is a link as well. */
const callFault = (calls: readonly StoredCall[], card: StoredCard): string | undefined => {
  const call = calls.find(({ call_card_id }) => call_card_id === card.card_id);
  if (call === undefined || (call.call_card_hash === card.hash && call.chain_hash === card.chain_hash))
    return undefined;
  return "the row of its call names another card or another link";
};

const brokenAt = ({ seq, what, id }: Link, why: string): BrokenLink => ({ seq, what, id, why });

interface Walked {
  readonly end: ChainLink;
  readonly broken: BrokenLink | undefined;
}

const walk = (start: ChainLink, links: readonly Link[], sha256: Sha256): Walked => {
  let end = start;
  for (const link of [...links].sort((a, b) => a.seq - b.seq)) {
    if (link.seq > end.seq + 1)
      return { end, broken: { seq: end.seq + 1, what: "card", id: null, why: "nothing is left of this link" } };
    if (link.seq <= end.seq) return { end, broken: brokenAt(link, "another link has its place") };
    if (link.fault !== undefined) return { end, broken: brokenAt(link, link.fault) };
    const next = extendChain(end, link.linked, sha256);
    if (link.stated !== undefined && link.stated !== next.hash)
      return { end, broken: brokenAt(link, "it does not follow from the links before it") };
    end = next;
  }
  return { end, broken: undefined };
};

interface Stated {
  readonly id: string;
  readonly seq: number | null;
  readonly hash: string | null;
}

const endOf = ({ end, broken }: Walked, stated: Stated): BrokenLink | undefined => {
  if (broken !== undefined || (stated.seq === end.seq && stated.hash === end.hash)) return broken;
  return { seq: end.seq, what: "end", id: stated.id, why: "the row says that the chain ended elsewhere" };
};

const planContext = (
  turn: StoredTurn,
  sha256: Sha256,
): { readonly fault?: BrokenLink; readonly gone: readonly string[] } => {
  const fault = (id: string, why: string): BrokenLink => ({ seq: 1, what: "context", id, why });
  const changed = turn.context.find(({ hash, actual }) => hash !== actual);
  if (changed !== undefined) return { fault: fault(changed.card_id, TEXT), gone: [] };
  const missing = turn.context_cards - turn.context.length;
  const gone = [
    ...turn.context.flatMap(({ card_id, hash }) => (hash === null ? [card_id] : [])),
    ...(missing > 0 ? [turn.context_box_id] : []),
  ];
  const { contextHash } = contextOfHashes(
    turn.context.map(({ hash }) => hash ?? NO_CARD),
    sha256,
  );
  if (missing <= 0 && contextHash === turn.context_hash) return { gone: [] };
  return gone.length > 0
    ? { gone }
    : { fault: fault(turn.context_box_id, "it holds other cards than the turn was given"), gone };
};

const taskLink = (key: ChainKey, turn: StoredTurn, sha256: Sha256): Link => {
  const linked = taskHash(
    {
      ...key,
      agentId: turn.agent_id,
      kind: turn.kind,
      sourceAgentId: turn.source_agent_id,
      payload: turn.payload,
      runtimeConfig: turn.runtime_config,
      metadata: turn.metadata,
      contextCards: turn.context_cards,
      contextHash: turn.context_hash,
    },
    sha256,
  );
  const fault = linked === turn.task_hash ? undefined : "the turn's row says that it was asked something else";
  return { seq: 1, what: "task", id: key.agentTurnId, linked, stated: undefined, fault };
};

export const planTurnVerdict = (key: ChainKey, turn: StoredTurn, sha256: Sha256): Verdict => {
  const version = turn.chain_version;
  const context = version === 1 ? { gone: [] } : planContext(turn, sha256);
  const links = [
    ...(version === 1 ? [] : [taskLink(key, turn, sha256)]),
    ...turn.cards.map((card) => ({ ...cardLink(card), fault: textFault(card) ?? callFault(turn.calls, card) })),
    ...turn.calls.flatMap(resultLinks),
  ];
  const start = chainStart(key, sha256, version);
  const walked = walk(start, links, sha256);
  // A turn of version 1 that has not begun has no chain.
  const stated = turn.chain_hash === null && !turn.ended ? start : { seq: turn.chain_seq, hash: turn.chain_hash };
  const broken = context.fault ?? endOf(walked, { id: key.agentTurnId, ...stated });
  const { gone } = context;
  return {
    version,
    ended: turn.ended,
    links: walked.end.seq,
    head: broken === undefined ? walked.end.hash : null,
    broken,
    gone,
  };
};

/** The chain of a call says itself which version it is: its card was linked to the start of that version. */
const versionOf = (key: ChainKey, { call_card: card }: StoredCall, sha256: Sha256): ChainVersion => {
  const old = card === null ? undefined : extendChain(chainStart(key, sha256, 1), card.hash, sha256);
  return old !== undefined && old.hash === card?.chain_hash ? 1 : 2;
};

/** A direct call is a turn of its own. */
export const planCallVerdict = (key: ChainKey, call: StoredCall, sha256: Sha256): Verdict => {
  const version = versionOf(key, call, sha256);
  const { call_card: card, settled } = call;
  const links: Link[] =
    card === null
      ? [{ seq: 1, what: "card", id: call.call_card_id, linked: "", stated: undefined, fault: GONE }]
      : [{ ...cardLink(card), fault: textFault(card) ?? callFault([call], card) }];
  const walked = walk(chainStart(key, sha256, version), [...links, ...resultLinks(call)], sha256);
  // Earlier versions linked no result of a direct call.
  const unlinked = !settled || (version === 1 && call.result_chain_seq === null);
  const stated = unlinked
    ? { seq: 1, hash: card?.chain_hash ?? null }
    : { seq: call.result_chain_seq, hash: call.result_chain_hash };
  const broken = endOf(walked, { id: call.tool_call_id, ...stated });
  const head = broken === undefined ? walked.end.hash : null;
  return { version, ended: settled, links: walked.end.seq, head, broken, gone: [] };
};
