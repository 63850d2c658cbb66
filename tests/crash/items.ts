// What the short crash runs ask for: some of everything, so that every point is passed and every deadline is met.

import type { ItemCounts } from "@toolplane/testkit";

export const SOME_OF_ALL: ItemCounts = {
  safe: 3,
  unsafe: 3,
  keyed: 2,
  card: 2,
  beat: 2,
  shy: 2,
  vanish: 1,
  cancel: 2,
  timeout: 2,
  silent: 1,
  gated: 1,
  allowed: 1,
  denied: 1,
  attic: 2,
  step: 2,
  event: 2,
  command: 2,
};

/** Enough that a process is killed many times before it is through. */
export const A_LOAD: ItemCounts = {
  safe: 40,
  unsafe: 40,
  keyed: 30,
  card: 20,
  beat: 10,
  shy: 10,
  vanish: 3,
  cancel: 10,
  timeout: 10,
  silent: 2,
  gated: 3,
  allowed: 5,
  denied: 3,
  attic: 5,
  step: 15,
  event: 20,
  command: 20,
};
