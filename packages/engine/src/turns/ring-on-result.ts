// Whoever settles a call of an agent's turn tells those who watch calls, after the commit. That is also when its agent is rung:
// the inbox row of the result is there.

import { isSettled } from "../calls/call.ts";
import type { CallObserver } from "../ports/call-observer.ts";
import type { AgentBells } from "./agent-bells.ts";

export const observeAndRing =
  (observe: CallObserver, bells: Pick<AgentBells, "ring">): CallObserver =>
  (change) => {
    observe(change);
    if (!change.headless && isSettled(change.status))
      bells.ring([{ projectId: change.projectId, agentId: change.agentId }]);
  };
