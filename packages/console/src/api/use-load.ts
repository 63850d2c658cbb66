// What a page shows of something that is asked for: loading, there, or a problem. What was there stays while it is asked for again.

import { useCallback, useEffect, useRef, useState } from "react";
import { type ApiProblem, toProblem } from "./problem.ts";

export interface Loaded<Value> {
  readonly value: Value | undefined;
  readonly problem: ApiProblem | undefined;
  readonly isLoading: boolean;
  readonly reload: () => void;
}

/** Asks when `key` changes; undefined asks for nothing. Requests that are no longer wanted are given up. */
export const useLoad = <Value>(
  key: string | undefined,
  ask: (signal: AbortSignal) => Promise<Value>,
): Loaded<Value> => {
  const [state, setState] = useState<{ key?: string; value?: Value; problem?: ApiProblem }>({});
  const [round, setRound] = useState(0);
  const asking = useRef(ask);
  asking.current = ask;

  // biome-ignore lint/correctness/useExhaustiveDependencies: `round` asks again for the same key
  useEffect(() => {
    if (key === undefined) return;
    const gone = new AbortController();
    asking
      .current(gone.signal)
      .then((value) => {
        if (!gone.signal.aborted) setState({ key, value });
      })
      .catch((thrown: unknown) => {
        if (gone.signal.aborted) return;
        const problem = toProblem(thrown);
        setState((before) => (before.key === key ? { ...before, problem } : { key, problem }));
      });
    return () => gone.abort();
  }, [key, round]);

  const reload = useCallback(() => setRound((before) => before + 1), []);
  const isCurrent = state.key === key;
  return {
    value: isCurrent ? state.value : undefined,
    problem: isCurrent ? state.problem : undefined,
    isLoading: key !== undefined && !isCurrent,
    reload,
  };
};
