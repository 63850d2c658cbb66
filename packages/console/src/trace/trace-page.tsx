// Trace: everything that came of one request, across turns, as a graph and as a tree that can be read line by line.

import type { ReactNode } from "react";
import { useNodeNames } from "../agents/use-agent-names.ts";
import { projectPath, request } from "../api/request.ts";
import { useLoad } from "../api/use-load.ts";
import { useReloadOn } from "../events/event-hub.tsx";
import { Page, Section } from "../parts/section.tsx";
import { spanBetween, spanText } from "../parts/span-text.ts";
import { Show } from "../parts/states.tsx";
import { Status } from "../parts/status.tsx";
import { Link } from "../router/use-place.tsx";
import { Text } from "../text/text.tsx";
import { visibleText } from "../text/visible-text.ts";
import { GraphView } from "./graph-view.tsx";
import type { TraceBody, TraceNode } from "./trace-body.ts";

const MOST_CHILDREN = 200;
const NOTHING: readonly TraceNode[] = [];

const idsIn = (nodes: readonly TraceNode[], ids = new Set<string>()): ReadonlySet<string> => {
  for (const node of nodes) {
    ids.add(node.id);
    idsIn(node.children, ids);
  }
  return ids;
};

interface BranchProps {
  readonly project: string;
  readonly node: TraceNode;
  readonly number: number;
  readonly nameOf: (node: TraceNode) => string;
}

const Branch = ({ project, node, number, nameOf }: BranchProps): ReactNode => {
  const span = spanBetween(node.started_at, node.ended_at);
  const left = node.children.length - MOST_CHILDREN;
  let steps = 0;
  return (
    <li>
      <span className="branch">
        {node.kind === "step" ? (
          <span className="muted">{`step ${number}`}</span>
        ) : (
          <Link to={{ kind: node.kind, project, id: node.id }}>
            <span className="kicker">{node.kind}</span> <Text most={64}>{nameOf(node)}</Text>
          </Link>
        )}
        <Status status={node.status} />
        {node.error_code !== null && <code className="code">{node.error_code}</code>}
        {span !== undefined && <span className="muted">{spanText(span)}</span>}
      </span>
      {node.children.length > 0 && (
        <ul>
          {node.children.slice(0, MOST_CHILDREN).map((child) => {
            if (child.kind === "step") steps += 1;
            return <Branch key={child.id} project={project} node={child} number={steps} nameOf={nameOf} />;
          })}
          {left > 0 && <li className="muted">{`${left} more`}</li>}
        </ul>
      )}
    </li>
  );
};

export const TracePage = ({ project, id }: { readonly project: string; readonly id: string }): ReactNode => {
  const path = projectPath(project, "traces", id);
  const trace = useLoad(path, (signal) => request<TraceBody>(path, { signal }));
  const tree = trace.value?.tree ?? NOTHING;
  const known = idsIn(tree);
  const nameOf = useNodeNames(project, tree);
  useReloadOn(
    ({ payload, isLogged }) =>
      isLogged && (known.has(String(payload.tool_call_id ?? "")) || known.has(String(payload.agent_turn_id ?? ""))),
    trace.reload,
  );
  return (
    <Page
      title={
        <>
          <span className="kicker">Trace</span> <code>{visibleText(id)}</code>
        </>
      }
    >
      <Show what="the trace" {...trace}>
        {(body) => (
          <>
            <Section title="Graph">
              <GraphView
                project={project}
                roots={body.tree}
                label="Turns, steps and calls of this trace"
                nameOf={nameOf}
              />
            </Section>
            <Section title="Tree">
              <ul className="tree">
                {body.tree.map((node) => (
                  <Branch key={node.id} project={project} node={node} number={0} nameOf={nameOf} />
                ))}
              </ul>
              {body.is_cut && <p className="note">The trace is longer than what the server shows of one.</p>}
            </Section>
          </>
        )}
      </Show>
    </Page>
  );
};
