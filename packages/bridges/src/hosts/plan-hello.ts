// Whether silence on hello meant anything. Time in which the process worked does not count (hear-silence). But a process that
// got no CPU at all, or whose work is done by another process, looks idle: it must not be taken for plain v1 for ever.
//   Y1. The process started as plain v1 shows how long a start takes. If its first answer came within the limit, the silence was
//       the host's; if not, the next process is asked again, with a longer limit.

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
  // Twice what it took, because starts vary. Half the startup time is left for the rest; a longer limit would not help.
  const patience = Math.min(firstAnswerMs * 2, startupMs / 2);
  return patience > helloMs ? patience : undefined;
};
