// Call: what happened to it, why it is where it is, and what to do about it.

import type { ReactNode } from "react";
import { isAgent } from "../agents/agent-words.ts";
import { useAgentNames } from "../agents/use-agent-names.ts";
import { isRecord } from "../api/problem.ts";
import { projectPath, request } from "../api/request.ts";
import { useLoad } from "../api/use-load.ts";
import { isOver } from "../calls/call-rows.ts";
import { callOf, turnOf } from "../events/call-event.ts";
import { useReloadOn } from "../events/event-hub.tsx";
import { ValueView } from "../json/value-view.tsx";
import { AdviceNote, WhyText } from "../parts/advice.tsx";
import { CopyButton } from "../parts/copy-button.tsx";
import { Facts, Page, Section } from "../parts/section.tsx";
import { Show } from "../parts/states.tsx";
import { Status } from "../parts/status.tsx";
import { When } from "../parts/when.tsx";
import { Link } from "../router/use-place.tsx";
import { Text } from "../text/text.tsx";
import { visibleText } from "../text/visible-text.ts";
import { CallActs } from "./call-acts.tsx";
import type { CallBody, WhyBody } from "./call-body.ts";
import { CallParts } from "./call-parts.tsx";
import { asCommand, asCurl, asTypeScript } from "./copy-as.ts";
import { ResultViews } from "./result-views.tsx";
import { TimelineView } from "./timeline-view.tsx";

const textIn = (value: unknown, name: string): string | undefined => {
  const found = isRecord(value) ? value[name] : undefined;
  return typeof found === "string" ? found : undefined;
};

/** The result of a failed call only repeats its error. */
const hasOwnResult = ({ result, error }: CallBody): boolean =>
  result !== undefined && result !== null && !(error !== undefined && isRecord(result) && "error_code" in result);

/** By which token a call was canceled is among the facts already. */
const hasDetail = (error: unknown): error is { readonly detail: unknown } =>
  isRecord(error) && isRecord(error.detail) && Object.keys(error.detail).some((name) => name !== "by");

interface ErrorCardProps {
  readonly error: unknown;
  readonly why: WhyBody | undefined;
}

/** The error, and the words of `why` below it: they name the error again. */
const ErrorCard = ({ error, why }: ErrorCardProps): ReactNode => (
  <Section title="What happened">
    <div className={textIn(error, "code") === "canceled" ? "problem calm" : "problem"}>
      <p>
        <Text most={4_000}>{textIn(error, "message") ?? JSON.stringify(error) ?? ""}</Text>{" "}
        {textIn(error, "code") !== undefined && <code className="code">{textIn(error, "code")}</code>}
      </p>
      {why !== undefined && why.todo !== null && <AdviceNote>{why.todo}</AdviceNote>}
    </div>
    {why !== undefined && (
      <p className="muted">
        <WhyText>{why.why}</WhyText>
      </p>
    )}
    {hasDetail(error) && <ValueView label="Detail" value={error.detail} />}
  </Section>
);

const LAYERS = [
  ["defaults", "by default"],
  ["fixed", "fixed by the author"],
  ["hidden", "hidden"],
] as const;

const LayersNote = ({ layers }: { readonly layers: CallBody["argument_layers"] }): ReactNode => {
  if (layers === undefined) return null;
  const said = LAYERS.flatMap(([name, words]) =>
    layers[name].length === 0 ? [] : [`${layers[name].join(", ")}: ${words}`],
  );
  const envs = Object.entries(layers.envs).map(([name, variable]) => `${name}: from the variable ${variable}`);
  const all = [...said, ...envs];
  return all.length === 0 ? null : <p className="note">{visibleText(all.join("; "))}</p>;
};

interface Step {
  readonly started_at: string | null;
}

/** When the agent's next step began; direct calls have no agent that goes on. */
const useResumedAt = (project: string, call: CallBody | undefined): string | null | undefined => {
  const turn = call?.agent_turn_id;
  const isAgents = call !== undefined && isAgent(call.agent_id) && call.settled_at !== null;
  const steps = useLoad(isAgents && turn !== undefined ? `steps of ${turn}` : undefined, async (signal) => {
    const body = await request<{ steps: readonly Step[] }>(projectPath(project, "turns", turn ?? ""), { signal });
    return body.steps;
  });
  const settled = call?.settled_at ?? "";
  return steps.value?.map(({ started_at }) => started_at).find((at) => at !== null && at >= settled);
};

const CardLink = ({ project, id }: { readonly project: string; readonly id: string }): ReactNode => (
  <Link to={{ kind: "card", project, id }}>{id}</Link>
);

interface BodyProps {
  readonly project: string;
  readonly call: CallBody;
  readonly why: WhyBody | undefined;
}

const CallContent = ({ project, call, why }: BodyProps): ReactNode => {
  const resumedAt = useResumedAt(project, call);
  const nameOf = useAgentNames(project, [call.agent_id]);
  const copied = {
    url: window.location.origin,
    project,
    toolName: call.tool_name,
    arguments: call.arguments ?? {},
  };
  const over = isOver(call.status);
  return (
    <>
      {call.error !== undefined && <ErrorCard error={call.error} why={why} />}
      {call.error === undefined && why !== undefined && (
        <Section title={over ? "What happened" : "Why it is here"}>
          <p className="why">
            <WhyText>{why.why}</WhyText>
          </p>
          {why.todo !== null && <AdviceNote>{why.todo}</AdviceNote>}
        </Section>
      )}
      <CallParts id={call.tool_call_id} />
      <Section title="Timeline">
        <TimelineView call={call} resumedAt={resumedAt} />
      </Section>
      <div className="columns">
        <Section title="Given">
          {call.views?.preview !== undefined && (
            <p className="preview">
              <Text most={500}>{call.views.preview}</Text>
            </p>
          )}
          <ValueView label="Arguments" value={call.arguments ?? {}} />
          <LayersNote layers={call.argument_layers} />
        </Section>
        {hasOwnResult(call) && (
          <Section title="Came back">
            <ResultViews key={call.tool_result_card_id} result={call.result} views={call.views} />
          </Section>
        )}
      </div>
      {call.diagnostics !== undefined && call.diagnostics !== null && (
        <Section title="Diagnostics">
          <p className="note">For operators: what the service said about its failure. No card holds it.</p>
          <ValueView label="Diagnostics" value={call.diagnostics} />
        </Section>
      )}
      <Section title="Facts">
        <Facts
          facts={[
            ["Call", <code key="id">{call.tool_call_id}</code>],
            [
              "Turn",
              !isAgent(call.agent_id) ? undefined : (
                <Link key="turn" to={{ kind: "turn", project, id: call.agent_turn_id }}>
                  {call.agent_turn_id}
                </Link>
              ),
            ],
            [
              "Trace",
              <Link key="trace" to={{ kind: "trace", project, id: call.trace_id }}>
                {call.trace_id}
              </Link>,
            ],
            [
              "Asked by",
              isAgent(call.agent_id) ? (
                <Link key="agent" to={{ kind: "agent", project, id: call.agent_id }}>
                  <Text most={64}>{nameOf(call.agent_id)}</Text>
                </Link>
              ) : (
                nameOf(call.agent_id)
              ),
            ],
            ["Target", <Text key="target">{call.target}</Text>],
            ["Tool version", call.tool_version],
            ["Asked", <When key="c" at={call.created_at} />],
            ["Ended", call.settled_at && <When key="s" at={call.settled_at} />],
            [
              call.approval?.verdict === "denied" ? "Denied by" : "Approved by",
              call.approval && (
                <span key="approval">
                  <Text most={128}>{call.approval.by}</Text>, <When at={call.approval.decided_at} />
                  {call.approval.reason !== null && (
                    <>
                      : <Text most={500}>{call.approval.reason}</Text>
                    </>
                  )}
                </span>
              ),
            ],
            ["Settled by", call.settled_by && <Text key="by">{call.settled_by}</Text>],
            ["Attempts", call.attempts],
            ["May be run again after a crash", call.retry_safe ? "yes" : "no"],
            ["Runs until", over ? undefined : call.run_deadline && <When key="r" at={call.run_deadline} />],
            ["Waits until", over ? undefined : call.queue_deadline && <When key="q" at={call.queue_deadline} />],
            ["Key", call.idempotency_key && <Text key="key">{call.idempotency_key}</Text>],
            [
              "Made again from",
              call.retry_of && (
                <Link key="retry" to={{ kind: "call", project, id: call.retry_of }}>
                  {call.retry_of}
                </Link>
              ),
            ],
            ["Call card", <CardLink key="card" project={project} id={call.tool_call_card_id} />],
            [
              "Result card",
              call.tool_result_card_id && <CardLink key="rcard" project={project} id={call.tool_result_card_id} />,
            ],
          ]}
        />
        <div className="acts">
          <CopyButton text={asCurl(copied)} label="Copy as curl" />
          <CopyButton text={asCommand(copied)} label="Copy as command" />
          <CopyButton text={asTypeScript(copied)} label="Copy as TypeScript" />
        </div>
      </Section>
    </>
  );
};

export const CallPage = ({ project, id }: { readonly project: string; readonly id: string }): ReactNode => {
  const path = projectPath(project, "calls", id);
  const call = useLoad(path, (signal) => request<CallBody>(path, { signal }));
  const why = useLoad(`${path}/why`, (signal) => request<WhyBody>(`${path}/why`, { signal }));
  const { reload } = call;
  const again = (): void => {
    reload();
    why.reload();
  };
  useReloadOn((event) => callOf(event) === id && event.isLogged && turnOf(event) !== "", again);
  const { value } = call;
  return (
    <Page
      title={
        <>
          <span className="kicker">Call</span>{" "}
          {value === undefined ? (
            <code>{visibleText(id)}</code>
          ) : (
            <Link to={{ kind: "tool", project, id: value.tool_name }}>
              <Text most={64}>{value.tool_name}</Text>
            </Link>
          )}
        </>
      }
      lead={value && <Status status={value.status} />}
      acts={value && <CallActs project={project} call={value} onDone={again} />}
    >
      <Show what="the call" {...call}>
        {(body) => <CallContent project={project} call={body} why={why.value} />}
      </Show>
    </Page>
  );
};
