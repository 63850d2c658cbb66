// Every scenario, in order. Scenarios about things a service must not do later come first, so that the rest of the run can show
// whether the service does them.

import type { Transport } from "../clauses.ts";
import { badCardScenarios } from "./bad-cards.ts";
import { badCommandScenarios } from "./bad-commands.ts";
import { goodScenarios, twoCalls } from "./good-calls.ts";
import { natsScenarios } from "./nats.ts";
import { repeatScenarios } from "./repeats.ts";
import type { Scenario } from "./scenario.ts";

export const FIRST_SCENARIO: Scenario = twoCalls;

export const scenariosOver = (transport: Transport): readonly Scenario[] => [
  ...repeatScenarios,
  ...(transport === "nats" ? natsScenarios : []),
  ...badCommandScenarios,
  ...badCardScenarios,
  ...goodScenarios,
];
