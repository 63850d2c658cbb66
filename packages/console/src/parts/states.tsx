// The four states of everything that is asked for: loading, empty, failing and forbidden; each says what to do next.

import type { ReactNode } from "react";
import type { ApiProblem } from "../api/problem.ts";
import { ProblemNote } from "./problem-note.tsx";

interface EmptyProps {
  readonly title: string;
  readonly children: ReactNode;
}

export const Empty = ({ title, children }: EmptyProps): ReactNode => (
  <div className="empty">
    <h2>{title}</h2>
    {children}
  </div>
);

export const Loading = ({ what }: { readonly what: string }): ReactNode => (
  <div className="loading" role="status">
    <span className="visually-hidden">Loading {what}</span>
    <div className="bone" />
    <div className="bone" />
    <div className="bone" />
  </div>
);

interface ShowProps<Value> {
  readonly what: string;
  readonly value: Value | undefined;
  readonly problem: ApiProblem | undefined;
  readonly reload: () => void;
  readonly children: (value: Value) => ReactNode;
}

/** The value when it is there, with a problem above it when it could not be asked for again. */
export const Show = <Value,>({ what, value, problem, reload, children }: ShowProps<Value>): ReactNode => {
  if (problem !== undefined && value === undefined) {
    const isForbidden = problem.status === 403;
    return (
      <Empty title={isForbidden ? `You may not see ${what}` : `${capital(what)} could not be loaded`}>
        <ProblemNote problem={problem} onRetry={isForbidden ? undefined : reload} />
      </Empty>
    );
  }
  if (value === undefined) return <Loading what={what} />;
  return (
    <>
      {problem !== undefined && <ProblemNote problem={problem} onRetry={reload} />}
      {children(value)}
    </>
  );
};

const capital = (text: string): string => text.charAt(0).toUpperCase() + text.slice(1);
