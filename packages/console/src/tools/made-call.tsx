// The call that a form made: followed until it is over. One that waits says why, with a way to its page.

import { type ReactNode, useState } from "react";
import { projectPath, request } from "../api/request.ts";
import { useLoad } from "../api/use-load.ts";
import type { CallBody, WhyBody } from "../call/call-body.ts";
import { isOver } from "../calls/call-rows.ts";
import { callOf } from "../events/call-event.ts";
import { useReloadOn } from "../events/event-hub.tsx";
import { ValueView } from "../json/value-view.tsx";
import { AdviceNote, WhyText } from "../parts/advice.tsx";
import { ProblemNote } from "../parts/problem-note.tsx";
import { Status } from "../parts/status.tsx";
import { Link } from "../router/use-place.tsx";

const WhyNote = ({ project, id, round }: { project: string; id: string; round: number }): ReactNode => {
  const path = projectPath(project, "calls", id, "why");
  const why = useLoad(`${path} ${round}`, (signal) => request<WhyBody>(path, { signal }));
  if (why.value === undefined) return null;
  const { why: words, todo } = why.value;
  return (
    <>
      <p>
        <WhyText>{words}</WhyText>
      </p>
      {todo !== null && <AdviceNote>{todo}</AdviceNote>}
    </>
  );
};

export const MadeCall = ({ project, id }: { readonly project: string; readonly id: string }): ReactNode => {
  const path = projectPath(project, "calls", id);
  const call = useLoad(path, (signal) => request<CallBody>(path, { signal }));
  const [round, setRound] = useState(0);
  useReloadOn(
    (event) => callOf(event) === id,
    () => {
      call.reload();
      setRound((before) => before + 1);
    },
  );
  const { value, problem } = call;
  return (
    <div className="made" role="status">
      <p className="acts">
        <Status status={value?.status ?? "queued"} />
        <Link to={{ kind: "call", project, id }}>Open the call</Link>
      </p>
      {problem !== undefined && <ProblemNote problem={problem} onRetry={call.reload} />}
      {value !== undefined && !isOver(value.status) && <WhyNote project={project} id={id} round={round} />}
      {value?.error !== undefined && <ValueView label="Error" value={value.error} />}
      {value?.error === undefined && value?.result !== undefined && value.result !== null && (
        <ValueView label="Result" value={value.result} />
      )}
    </div>
  );
};
