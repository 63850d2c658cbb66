// Joins the reads of many steps into few statements, as the engine does with its writes: reads asked for while one is under way
// go together with the next. No timers: a lone read is sent at once.

export interface JoinReadsOptions<Ask, Answer> {
  /** An answer for every ask, in order. */
  readonly read: (asks: readonly Ask[]) => Promise<readonly Answer[]>;
  readonly maxItems: number;
}

interface Entry<Ask, Answer> {
  readonly ask: Ask;
  readonly resolve: (answer: Answer) => void;
  readonly reject: (error: unknown) => void;
}

/** One is under way while the next one is collected. */
const IN_FLIGHT = 2;

export const joinReads = <Ask, Answer>({
  read,
  maxItems,
}: JoinReadsOptions<Ask, Answer>): ((ask: Ask) => Promise<Answer>) => {
  const waiting: Entry<Ask, Answer>[] = [];
  let inFlight = 0;
  let scheduled = false;

  const answer = async (entries: readonly Entry<Ask, Answer>[]): Promise<void> => {
    try {
      const answers = await read(entries.map(({ ask }) => ask));
      for (const [index, { resolve }] of entries.entries()) resolve(answers[index] as Answer);
    } catch (error) {
      const [only, ...others] = entries;
      if (others.length === 0) return only?.reject(error);
      // A read that fails fails alone.
      for (const entry of entries) await answer([entry]);
    }
  };

  const pump = (): void => {
    scheduled = false;
    while (inFlight < IN_FLIGHT && waiting.length > 0) {
      inFlight++;
      void answer(waiting.splice(0, maxItems)).finally(() => {
        inFlight--;
        pump();
      });
    }
  };

  return (ask) =>
    new Promise((resolve, reject) => {
      waiting.push({ ask, resolve, reject });
      if (scheduled || inFlight >= IN_FLIGHT) return;
      scheduled = true;
      queueMicrotask(pump);
    });
};
