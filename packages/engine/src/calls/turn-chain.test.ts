import { createHash } from "node:crypto";
import { expect, test } from "vitest";
import { chainStart, extendChain } from "./turn-chain.ts";

const sha256 = (text: string): string => createHash("sha256").update(text).digest("hex");
const chain = (project: string, turn: string, cards: readonly string[]): string =>
  cards.reduce(
    (link, card) => extendChain(link, card, sha256),
    chainStart({ projectId: project, agentTurnId: turn }, sha256),
  ).hash;

test("[ENG-chain] the chain changes with the project, the turn, any card, their order and their number", () => {
  const base = chain("p", "t", ["a", "b", "c"]);
  const others = [
    chain("q", "t", ["a", "b", "c"]),
    chain("p", "u", ["a", "b", "c"]),
    chain("p", "t", ["a", "x", "c"]),
    chain("p", "t", ["b", "a", "c"]),
    chain("p", "t", ["a", "b"]),
    chain("p\nt", "", ["a", "b", "c"]),
  ];
  expect(new Set([base, ...others]).size).toBe(others.length + 1);
  expect(chain("p", "t", ["a", "b", "c"])).toBe(base);
});
