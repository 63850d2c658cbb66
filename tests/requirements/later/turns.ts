// Rules about turns whose parts are not built yet: they are counted out loud, and wait for the tests that will claim them.

import type { Rule } from "../rule.ts";

export const rules = [{ id: "UTP-W32-T1", source: "utp 15 W-32", part: "nats", text: "A client of the bus cannot speak as another actor, and a tool service needs no database." }] as const satisfies readonly Rule[];
