// A result a tool has prepared itself: another status than success, an error beside data, a wish for the turn.

import type { AfterExecution, JsonObject, ResultStatus, ResultViews } from "@toolplane/protocol";

export interface ToolResultFields {
  readonly status: ResultStatus;
  readonly result?: unknown;
  /** Required unless the status is success; whatever is given is brought into the shape of an error. */
  readonly error?: unknown;
  /** Ends or continues the turn whatever the command said; written into the result's control namespace. */
  readonly afterExecution?: AfterExecution | undefined;
  /** For executors with sessions: the state to keep. Kept only when the call succeeds. */
  readonly sessionState?: JsonObject | undefined;
  /** Further ways to show the result: what a model reads, what people see. Kept only when the call succeeds. */
  readonly views?: ResultViews | undefined;
}

/** A class, so that plain data with the same keys is never mistaken for it. */
export class PreparedResult {
  readonly fields: ToolResultFields;

  constructor(fields: ToolResultFields) {
    this.fields = fields;
  }
}

export const toolResult = (fields: ToolResultFields): PreparedResult => new PreparedResult(fields);
