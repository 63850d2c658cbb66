// A scenario: what is done to the service, for which clauses. It judges nothing: the judges look at the evidence when all scenarios
// are over.

import type { ClauseId } from "../clauses.ts";
import type { Session } from "../session.ts";

export interface Scenario {
  readonly name: string;
  /** Clauses that fail when the service ends or stops answering in it. */
  readonly clauses: readonly ClauseId[];
  /** Afterwards an ordinary call must still be answered, whatever `run` says. */
  readonly mustLiveOn?: boolean;
  /** Resolves to whether everything it waited for came. */
  run(session: Session): Promise<boolean>;
}
