// A span, and where its id comes from. Ids that the protocol carries are used as they are: the trace, the turn (its traceparent) and
// the run of a tool (the traceparent of its report). Everything else has an id of its own in the protocol (a step, a call), and its
// span id is made of that: every process makes the same one, so no span has to be handed on.

import { createHash } from "node:crypto";

export type AttributeValue = string | number | boolean;

export interface Span {
  readonly traceId: string;
  readonly spanId: string;
  /** Undefined: the root of its trace. */
  readonly parentId: string | undefined;
  readonly name: string;
  readonly startMs: number;
  readonly endMs: number;
  readonly attributes: Readonly<Record<string, AttributeValue | null | undefined>>;
  /** A traceparent of another trace that this one came from. */
  readonly link?: string | undefined;
  /** What went wrong, as a code; undefined when nothing did. */
  readonly error?: string | undefined;
}

const SPAN_ID_DIGITS = 16;

/** The span of something that has an id in the protocol. Hex of a hash is never all zero in practice. */
export const spanIdOf = (traceId: string, what: string): string =>
  createHash("sha256").update(`${traceId}/${what}`).digest("hex").slice(0, SPAN_ID_DIGITS);
