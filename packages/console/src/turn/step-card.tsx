// One step of a turn: what the agent thought, and what it called.

import type { ReactNode } from "react";
import { LongText } from "../json/json-tree.tsx";
import { ValueView } from "../json/value-view.tsx";
import { spanBetween, spanText } from "../parts/span-text.ts";
import { Status } from "../parts/status.tsx";
import { Link } from "../router/use-place.tsx";
import { Text } from "../text/text.tsx";
import type { StepBody, StepCall } from "./turn-body.ts";

const CallCard = ({ project, call }: { readonly project: string; readonly call: StepCall }): ReactNode => {
  const span = spanBetween(call.asked_at, call.answered_at);
  return (
    <details className="card call-card">
      <summary>
        <span className="call-tool">
          <Text most={64}>{call.tool_name}</Text>
        </span>
        <Status status={call.status ?? "running"} />
        {span !== undefined && <span className="muted">{spanText(span)}</span>}
      </summary>
      <ValueView label="Arguments" value={call.arguments} />
      {call.result !== undefined && <ValueView label="Result" value={call.result} />}
      {call.error !== undefined && <ValueView label="Error" value={call.error} />}
      {call.local === true ? (
        <p className="note">The worker did this itself: there is no call to look up.</p>
      ) : (
        <p>
          <Link to={{ kind: "call", project, id: call.tool_call_id }}>Open the call</Link>
        </p>
      )}
    </details>
  );
};

interface StepCardProps {
  readonly project: string;
  readonly step: StepBody;
  readonly number: number;
  /** What the agent says now, until its thought is stored. */
  readonly words: string | undefined;
}

export const StepCard = ({ project, step, number, words }: StepCardProps): ReactNode => {
  const thought = step.thought ?? words ?? "";
  const span = spanBetween(step.started_at, step.ended_at);
  return (
    <li className="step">
      <h3>
        {step.step_id.startsWith("step_stop_") ? "Stop" : `Step ${number}`} <Status status={step.status} />
        {span !== undefined && <span className="step-span muted"> {spanText(span)}</span>}
      </h3>
      {thought !== "" && (
        <div className="card thought" aria-live={step.thought === null ? "polite" : "off"}>
          <LongText text={thought} />
        </div>
      )}
      {step.calls?.map((call) => (
        <CallCard key={call.tool_call_id} project={project} call={call} />
      ))}
      {step.error !== null && step.error !== undefined && <ValueView label="Error" value={step.error} />}
    </li>
  );
};
