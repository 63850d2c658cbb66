// A problem where it happened: its sentence, its code, and what to do next.

import type { ReactNode } from "react";
import { type ApiProblem, adviceFor } from "../api/problem.ts";
import { Text } from "../text/text.tsx";
import { Button } from "./button.tsx";

interface ProblemNoteProps {
  readonly problem: ApiProblem;
  readonly onRetry?: (() => void) | undefined;
}

export const ProblemNote = ({ problem, onRetry }: ProblemNoteProps): ReactNode => {
  const advice = adviceFor(problem);
  return (
    <div className="problem" role="alert">
      <p>
        <Text most={2_000}>{problem.message}</Text> <code className="code">{problem.code}</code>
      </p>
      {advice !== "" && (
        <p className="muted">
          <Text most={1_000}>{advice}</Text>
        </p>
      )}
      {onRetry !== undefined && <Button onClick={onRetry}>Try again</Button>}
    </div>
  );
};
