// Whether silence on hello said anything. Time in which the process worked does not count (hear-silence), but one that had no
// processor at all, or whose work is done by another process, looks idle: it must not be held for plain v1 for good.
//   Y1. The process started as plain v1 shows how long a start takes. If it had its first answer within the limit, the
//       silence was the host's; if not, the next process is asked again, with more patience.

export interface PlainStart {
  /** From the start of the plain process to its first answer. */
  readonly firstAnswerMs: number;
  /** The limit the silent one had. */
  readonly helloMs: number;
  readonly startupMs: number;
}

/** The limit for the next process, or undefined when the host is known to be plain. */
export const planHelloAgain = ({ firstAnswerMs, helloMs, startupMs }: PlainStart): number | undefined => {
  if (firstAnswerMs < helloMs) return undefined;
  // Twice what it took: starts vary. Half the startup time is left for the rest, and more patience would not help.
  const patience = Math.min(firstAnswerMs * 2, startupMs / 2);
  return patience > helloMs ? patience : undefined;
};
