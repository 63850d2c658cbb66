// What heals turns. The watchdogs of calls and leases belong to the engine.
// Not built yet: the rules are counted out loud, and wait for the tests that will claim them.

import type { Rule } from "../rule.ts";

export const rules = [
  { id: "UTP-12-1", source: "utp 12", part: "turn watchdogs", text: "An inbox row in processing for over 300 s goes back to pending." },
  { id: "UTP-12-2", source: "utp 12", part: "turn watchdogs", text: "A deferred row that is due rings its agent once." },
  { id: "UTP-12-3", source: "utp 12", part: "turn watchdogs", text: "A suspended head with arrived results is resumed by the reconciler." },
  { id: "UTP-12-4", source: "utp 12", part: "turn watchdogs", text: "A suspended call past its deadline gets a timeout result by worker.watchdog with code tool_timeout, once." },
  { id: "UTP-12-5", source: "utp 12", part: "turn watchdogs", text: "A dispatched head is rung again after 10 s without a second turn row." },
  { id: "UTP-12-6", source: "utp 12", part: "turn watchdogs", text: "A dispatched head older than 30 s goes idle with epoch+1, a fallback deliverable and a task event timeout with dispatch_timeout." },
  { id: "UTP-12-7", source: "utp 12", part: "turn watchdogs", text: "A running head older than 300 s without a heartbeat is reaped with a fallback deliverable and one task event." },
  { id: "UTP-12-8", source: "utp 12", part: "turn watchdogs", text: "A pending row older than 5 s is rung; one that cannot be replayed becomes error with the reason in its payload." },
  { id: "UTP-12-9", source: "utp 12", part: "turn watchdogs", text: "One bad row does not stop a watchdog's tick for the others." },
  { id: "UTP-12-10", source: "utp 12", part: "turn watchdogs", text: "A long model call keeps its head alive by heartbeat." },
] as const satisfies readonly Rule[];
