// A few attacks on turns; many are in tests/long.

import { test } from "vitest";
import { attackTurns } from "./attack.ts";

test(
  "[INV-I1] [INV-I2-T1] [INV-I10-T1] whatever is done to an agent's turns, each ends once and whole",
  {
    timeout: 120_000,
  },
  () => attackTurns(6),
);
