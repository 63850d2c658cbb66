// Tool: what it is, how it did lately, a form to try it, its versions, and what waits to be accepted.

import { type ReactNode, useState } from "react";
import { type Page as ListPage, projectPath, request, withQuery } from "../api/request.ts";
import { useAct } from "../api/use-act.ts";
import { type Loaded, useLoad } from "../api/use-load.ts";
import { useReloadOn } from "../events/event-hub.tsx";
import { ValueView } from "../json/value-view.tsx";
import type { LimitBody } from "../limits/limit-body.ts";
import { limitWords } from "../limits/plan-limits.ts";
import { Button } from "../parts/button.tsx";
import { ProblemNote } from "../parts/problem-note.tsx";
import { Facts, Page, Section } from "../parts/section.tsx";
import { spanText } from "../parts/span-text.ts";
import { Show } from "../parts/states.tsx";
import { Status } from "../parts/status.tsx";
import { When } from "../parts/when.tsx";
import { goTo } from "../router/use-place.tsx";
import { useSession } from "../session/session.tsx";
import { Text } from "../text/text.tsx";
import { visibleText } from "../text/visible-text.ts";
import { DiffView } from "./diff-view.tsx";
import { type Pending, type ToolBody, targetOf, type UsageBody } from "./tool-body.ts";
import { ToolVersions } from "./tool-versions.tsx";
import { TryForm } from "./try-form.tsx";

/** Counting all calls of a tool costs more than listing the newest ones. */
const COUNT_EVERY_MS = 2_000;

const UsageView = ({ name, usage }: { readonly name: string; readonly usage: Loaded<UsageBody> }): ReactNode => {
  useReloadOn(({ isLogged, payload }) => isLogged && payload.tool_name === name, usage.reload, COUNT_EVERY_MS);
  return (
    <Show what="the tool's calls" {...usage}>
      {({ ended, failed, open, is_cut, since, median_ms, p95_ms, errors }) =>
        ended + open === 0 ? (
          <p className="muted">It was not called yet.</p>
        ) : (
          <Facts
            facts={[
              ["Calls that ended", `${is_cut ? "the newest " : ""}${ended.toLocaleString("en")}`],
              ["Not over", open],
              ["Failed", ended === 0 ? undefined : `${failed.toLocaleString("en")} (${share(failed, ended)})`],
              ["Half ended within", median_ms === null ? undefined : spanText(median_ms)],
              ["95 % ended within", p95_ms === null ? undefined : spanText(p95_ms)],
              ["Counted since", since && <When key="since" at={since} />],
              ["Errors", errors.map(({ code, calls }) => `${visibleText(code)} (${calls})`).join(", ")],
            ]}
          />
        )
      }
    </Show>
  );
};

const share = (part: number, whole: number): string => `${((part / whole) * 100).toFixed(1)} %`;

const LimitNote = ({ project, name }: { readonly project: string; readonly name: string }): ReactNode => {
  const path = withQuery(projectPath(project, "limits"), { limit: 500 });
  const limits = useLoad(path, (signal) => request<ListPage<LimitBody>>(path, { signal }));
  useReloadOn(({ isLogged, payload }) => isLogged && payload.tool_name === name, limits.reload, COUNT_EVERY_MS);
  const own = limits.value?.items.find(({ tool_name }) => tool_name === name);
  if (own === undefined) return null;
  const tone = own.breaker_opened_at !== null ? "bad" : own.held_by === null ? "good" : "warn";
  return (
    <p className={`limit-note ${tone}`}>
      {limitWords(own)} {own.next_at !== null && <>The next call may start </>}
      {own.next_at !== null && <When at={own.next_at} />}
    </p>
  );
};

/** A call of a tool that no service serves waits: better said before than after. */
const ServedNote = ({ project, target }: { readonly project: string; readonly target: string }): ReactNode => {
  const path = projectPath(project, "services");
  const services = useLoad(path, (signal) => request<ListPage<{ readonly target: string }>>(path, { signal }));
  const items = services.value?.items;
  if (items === undefined || items.some((service) => service.target === target)) return null;
  return (
    <p className="limit-note warn">
      No service asks for work for the target <Text most={64}>{target}</Text>: a call waits until one does.
    </p>
  );
};

interface PendingProps {
  readonly project: string;
  readonly tool: ToolBody;
  readonly pending: Pending;
  readonly onDone: () => void;
}

const PendingVersion = ({ project, tool, pending, onDone }: PendingProps): ReactNode => {
  const { rights } = useSession();
  const accept = useAct(async () => {
    const path = projectPath(project, "tools", tool.tool_name, "accept");
    await request(path, { method: "POST", body: { version: pending.version } });
    onDone();
  });
  const weakened = Array.isArray(pending.weakens) ? pending.weakens : [];
  return (
    <Section title="A changed definition waits">
      <p>
        Version {pending.version} came from <Text>{pending.source ?? "a person"}</Text>,{" "}
        <When at={pending.created_at} />. It is not in force until a person accepts it.
      </p>
      {weakened.length > 0 && (
        <p className="todo">{visibleText(`It weakens: ${weakened.join(", ")}. Read it with care.`)}</p>
      )}
      {pending.changes.map(({ field, from, to }) => (
        <div key={field} className="change">
          <code>
            <Text>{field}</Text>
          </code>
          <DiffView before={from} after={to} />
        </div>
      ))}
      {rights.canOperate && (
        <p className="acts">
          <Button kind="main" busy={accept.isBusy} onClick={() => accept.run()}>
            {`Accept version ${pending.version}`}
          </Button>
        </p>
      )}
      {accept.problem !== undefined && <ProblemNote problem={accept.problem} onRetry={onDone} />}
    </Section>
  );
};

const ToolActs = ({
  project,
  tool,
  onDone,
}: {
  readonly project: string;
  readonly tool: ToolBody;
  readonly onDone: () => void;
}): ReactNode => {
  const { rights } = useSession();
  const change = useAct(async (verb: "pause" | "resume") => {
    await request(projectPath(project, "tools", tool.tool_name, verb), { method: "POST", body: {} });
    onDone();
  });
  if (!rights.canOperate || tool.status === "deleted") return null;
  const verb = tool.status === "paused" ? "resume" : "pause";
  return (
    <>
      <Button busy={change.isBusy} onClick={() => change.run(verb)}>
        {verb === "pause" ? "Pause" : "Resume"}
      </Button>
      {change.problem !== undefined && <ProblemNote problem={change.problem} />}
    </>
  );
};

export const ToolPage = ({ project, id }: { readonly project: string; readonly id: string }): ReactNode => {
  const { rights } = useSession();
  const path = `${projectPath(project, "tools", id)}?pending=true`;
  const tool = useLoad(path, (signal) => request<ToolBody>(path, { signal }));
  const usagePath = projectPath(project, "tools", id, "usage");
  const usage = useLoad(usagePath, (signal) => request<UsageBody>(usagePath, { signal }));
  const [round, setRound] = useState(0);
  const again = (): void => {
    tool.reload();
    setRound(round + 1);
  };
  const { value } = tool;
  return (
    <Page
      title={
        <>
          <span className="kicker">Tool</span> <Text most={64}>{id}</Text>
        </>
      }
      lead={value && <Status status={value.status} />}
      acts={value && <ToolActs project={project} tool={value} onDone={again} />}
    >
      <Show what="the tool" {...tool}>
        {(body) => (
          <>
            <p className="description">
              <Text most={2_000}>{body.description}</Text>
            </p>
            {body.pending !== undefined && (
              <PendingVersion project={project} tool={body} pending={body.pending} onDone={again} />
            )}
            <div className="columns">
              {rights.canCall && body.status === "active" && (
                <Section title="Try it">
                  <ServedNote project={project} target={targetOf(body)} />
                  <TryForm key={body.definition_hash} project={project} tool={body} onMade={usage.reload} />
                </Section>
              )}
              <Section
                title="Use"
                acts={
                  <Button
                    kind="quiet"
                    onClick={() => goTo(`/p/${encodeURIComponent(project)}?tool=${encodeURIComponent(id)}`)}
                  >
                    Its calls
                  </Button>
                }
              >
                <UsageView name={id} usage={usage} />
                <LimitNote project={project} name={id} />
              </Section>
            </div>
            <Section title="Definition">
              <Facts
                facts={[
                  ["Target", <Text key="t">{targetOf(body)}</Text>],
                  ["Version", body.version],
                  ["From", body.source && <Text key="s">{body.source}</Text>],
                  ["After it ran", body.after_execution === "terminate" ? "the turn ends" : "the agent goes on"],
                  ["Changed", <When key="w" at={body.updated_at} />],
                ]}
              />
              <ValueView label="Parameters" value={body.parameters} />
              {Object.keys(body.options ?? {}).length > 0 && (
                <ValueView label="Options and limits" value={body.options} />
              )}
            </Section>
            <ToolVersions
              project={project}
              name={id}
              current={body.version}
              round={`${body.definition_hash} ${round}`}
            />
          </>
        )}
      </Show>
    </Page>
  );
};
