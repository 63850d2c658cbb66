// A settlement tells the observers of calls after its commit. The agent of the call is rung at the same moment, because the
// inbox row with the result exists by then.

import { isSettled } from "../calls/call.ts";
import type { CallObserver } from "../ports/call-observer.ts";
import type { AgentBells } from "./agent-bells.ts";

export const observeAndRing =
  (observe: CallObserver, bells: Pick<AgentBells, "ring">): CallObserver =>
  (change, news) => {
    observe(change, news);
    if (!change.headless && isSettled(change.status))
      bells.ring([{ projectId: change.projectId, agentId: change.agentId }]);
  };
