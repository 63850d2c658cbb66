// What a bus has done since it was made; read by `stats()`.

import type { CarrierBusStats } from "./bus.ts";

export type BusCounters = { -readonly [Name in keyof CarrierBusStats]: number };

export const createBusCounters = (): BusCounters => ({
  published: 0,
  delivered: 0,
  acknowledged: 0,
  refused: 0,
  deadLettered: 0,
  inFlight: 0,
  consumers: 0,
  streamItems: 0,
  streamItemsDropped: 0,
});
