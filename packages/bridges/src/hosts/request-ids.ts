// Ids of requests: random, so that no other writer on the same pipe can answer one (SEC-9).
// Random bytes are drawn for many ids at once: a request then costs a slice of a text, a third of a UUID.

import { randomBytes } from "node:crypto";

/** 96 bits: guessing one of a few open ids is hopeless, and a line stays short. */
const ID_CHARACTERS = 24;
const IDS_PER_DRAW = 256;

export const createRequestIds = (draw: (bytes: number) => Buffer = randomBytes): (() => string) => {
  let text = "";
  let at = 0;
  return () => {
    if (at === text.length) {
      text = draw((ID_CHARACTERS / 2) * IDS_PER_DRAW).toString("hex");
      at = 0;
    }
    at += ID_CHARACTERS;
    return text.slice(at - ID_CHARACTERS, at);
  };
};
