// Turn: what an agent was asked, thought, called and delivered; its calls in lanes, and everything that came of it as a graph.

import { type ReactNode, useMemo, useState } from "react";
import { useNodeNames } from "../agents/use-agent-names.ts";
import { projectPath, request } from "../api/request.ts";
import { useAct } from "../api/use-act.ts";
import { useLoad } from "../api/use-load.ts";
import { turnOf } from "../events/call-event.ts";
import { useEvents, useReloadOn } from "../events/event-hub.tsx";
import { LongText } from "../json/json-tree.tsx";
import { ValueView } from "../json/value-view.tsx";
import { AdviceNote, WhyText } from "../parts/advice.tsx";
import { Button } from "../parts/button.tsx";
import { ReasonDialog } from "../parts/reason-dialog.tsx";
import { Facts, Page, Section } from "../parts/section.tsx";
import { Show } from "../parts/states.tsx";
import { Status } from "../parts/status.tsx";
import { When } from "../parts/when.tsx";
import { Link } from "../router/use-place.tsx";
import { useSession } from "../session/session.tsx";
import { Text } from "../text/text.tsx";
import { visibleText } from "../text/visible-text.ts";
import { findTurn, turnsIn } from "../trace/graph-layout.ts";
import { GraphView } from "../trace/graph-view.tsx";
import type { TraceBody } from "../trace/trace-body.ts";
import { planTreeLanes } from "../trace/tree-lanes.ts";
import { LanesView } from "./lanes-view.tsx";
import { StepCard } from "./step-card.tsx";
import { isTurnOver, type TurnBody } from "./turn-body.ts";
import { addWords, type Words } from "./turn-words.ts";

const StopButton = ({
  project,
  turn,
  onDone,
}: {
  readonly project: string;
  readonly turn: TurnBody;
  readonly onDone: () => void;
}): ReactNode => {
  const { rights } = useSession();
  const [isAsked, setAsked] = useState(false);
  const stop = useAct(async (reason: string) => {
    const path = projectPath(project, "turns", turn.agent_turn_id);
    await request(`${path}/stop`, { method: "POST", body: reason === "" ? {} : { reason } });
    setAsked(false);
    onDone();
  });
  if (isTurnOver(turn.status) || !rights.canCall) return null;
  return (
    <>
      <Button kind="risky" onClick={() => setAsked(true)}>
        Stop
      </Button>
      {isAsked && (
        <ReasonDialog
          title="Stop this turn"
          act="Stop the turn"
          isRisky
          isBusy={stop.isBusy}
          problem={stop.problem}
          onAct={stop.run}
          onClose={() => setAsked(false)}
        >
          <p className="muted">Its open calls are canceled. The agent does not go on with this task.</p>
        </ReasonDialog>
      )}
    </>
  );
};

interface FamilyProps {
  readonly project: string;
  readonly turn: TurnBody;
}

/** Everything that came of the turn: what ran when, and what started what. */
const TurnFamily = ({ project, turn }: FamilyProps): ReactNode => {
  const path = projectPath(project, "traces", turn.trace_id);
  const trace = useLoad(path, (signal) => request<TraceBody>(path, { signal }));
  const own = useMemo(
    () => trace.value && findTurn(trace.value.tree, turn.agent_turn_id),
    [trace.value, turn.agent_turn_id],
  );
  const family = useMemo(() => new Set(own === undefined ? [] : turnsIn(own)), [own]);
  useReloadOn(
    (event) => event.isLogged && (turnOf(event) === turn.agent_turn_id || family.has(turnOf(event))),
    trace.reload,
  );
  const roots = useMemo(() => (own === undefined ? [] : [own]), [own]);
  const nameOf = useNodeNames(project, roots);
  if (own === undefined) return null;
  const lanes = planTreeLanes(own, nameOf);
  return (
    <>
      {lanes.length > 0 && (
        <Section title="Over time">
          <LanesView project={project} items={lanes} />
        </Section>
      )}
      <Section
        title="What came of it"
        acts={<Link to={{ kind: "trace", project, id: turn.trace_id }}>Whole trace</Link>}
      >
        <GraphView
          project={project}
          roots={roots}
          label="Turns, steps and calls that came of this turn"
          nameOf={nameOf}
        />
      </Section>
    </>
  );
};

interface ContentProps {
  readonly project: string;
  readonly turn: TurnBody;
  readonly words: Words;
}

const TurnContent = ({ project, turn, words }: ContentProps): ReactNode => {
  return (
    <>
      {turn.why !== undefined && turn.why !== null && (
        <Section title="What it waits for">
          <p className="why">
            <WhyText>{turn.why}</WhyText>
          </p>
          {turn.todo !== undefined && turn.todo !== null && <AdviceNote>{turn.todo}</AdviceNote>}
        </Section>
      )}
      {turn.error !== null && (
        <Section title="Error">
          <div className="problem">
            <Text most={4_000}>{turn.error.message}</Text> <code className="code">{turn.error.code}</code>
          </div>
        </Section>
      )}
      <Section title="Conversation">
        {typeof turn.instruction === "string" && (
          <div className="card instruction">
            <span className="card-who">
              <Text>{turn.source_agent_id === "sys.api" ? "asked" : `${turn.source_agent_id} asked`}</Text>
            </span>
            <LongText text={turn.instruction} />
          </div>
        )}
        <ol className="steps">
          {turn.steps.map((step, at) => (
            <StepCard
              key={step.step_id}
              project={project}
              step={step}
              number={at + 1}
              words={words.get(step.step_id)}
            />
          ))}
        </ol>
        {turn.deliverable !== null && turn.deliverable !== undefined && (
          <div className="card deliverable">
            <span className="card-who">delivered</span>
            {typeof turn.deliverable === "string" ? (
              <LongText text={turn.deliverable} />
            ) : (
              <ValueView label="Deliverable" value={turn.deliverable} />
            )}
          </div>
        )}
      </Section>
      <TurnFamily project={project} turn={turn} />
      <Section title="Facts">
        <Facts
          facts={[
            ["Turn", <code key="id">{turn.agent_turn_id}</code>],
            [
              "Asked by a turn",
              turn.parent_agent_turn_id && (
                <Link key="parent" to={{ kind: "turn", project, id: turn.parent_agent_turn_id }}>
                  {turn.parent_agent_turn_id}
                </Link>
              ),
            ],
            ["Depth", turn.recursion_depth],
            ["Steps", turn.step_count],
            ["Began", <When key="c" at={turn.created_at} />],
            ["Ended", turn.ended_at && <When key="e" at={turn.ended_at} />],
          ]}
        />
      </Section>
    </>
  );
};

export const TurnPage = ({ project, id }: { readonly project: string; readonly id: string }): ReactNode => {
  const path = `${projectPath(project, "turns", id)}?detail=full`;
  const turn = useLoad(path, (signal) => request<TurnBody>(path, { signal }));
  const [words, setWords] = useState<Words>(new Map());
  useEvents((events) => setWords((before) => addWords(before, id, events)));
  useReloadOn((event) => event.isLogged && turnOf(event) === id, turn.reload);
  const { value } = turn;
  return (
    <Page
      title={
        <>
          <span className="kicker">Turn</span>{" "}
          {value === undefined ? (
            <code>{visibleText(id)}</code>
          ) : (
            <Link to={{ kind: "agent", project, id: value.agent_id }}>
              <Text most={64}>{value.agent_id}</Text>
            </Link>
          )}
        </>
      }
      lead={value && <Status status={value.status} />}
      acts={value && <StopButton project={project} turn={value} onDone={turn.reload} />}
    >
      <Show what="the turn" {...turn}>
        {(body) => <TurnContent project={project} turn={body} words={words} />}
      </Show>
    </Page>
  );
};
