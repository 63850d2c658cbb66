// An act of a person: one at a time, its problem shown where it was asked for.

import { useCallback, useRef, useState } from "react";
import { type ApiProblem, toProblem } from "./problem.ts";

export interface Act<Given extends readonly unknown[]> {
  readonly run: (...given: Given) => void;
  readonly isBusy: boolean;
  readonly problem: ApiProblem | undefined;
  readonly clear: () => void;
}

export const useAct = <Given extends readonly unknown[]>(act: (...given: Given) => Promise<void>): Act<Given> => {
  const [isBusy, setBusy] = useState(false);
  const [problem, setProblem] = useState<ApiProblem>();
  const acting = useRef(act);
  acting.current = act;
  const busy = useRef(false);
  const run = useCallback((...given: Given): void => {
    // A double click is one act.
    if (busy.current) return;
    busy.current = true;
    setBusy(true);
    setProblem(undefined);
    acting
      .current(...given)
      .catch((thrown: unknown) => setProblem(toProblem(thrown)))
      .finally(() => {
        busy.current = false;
        setBusy(false);
      });
  }, []);
  const clear = useCallback(() => setProblem(undefined), []);
  return { run, isBusy, problem, clear };
};
