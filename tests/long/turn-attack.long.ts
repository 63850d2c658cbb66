// The attacks of tests/turns/attack.test.ts, three hundred of them.

import { test } from "vitest";
import { attackTurns } from "../turns/attack.ts";

test("[INV-I1] [INV-I2-T1] [INV-I10-T1] three hundred attacks leave every turn ended once and whole", () =>
  attackTurns(300));
