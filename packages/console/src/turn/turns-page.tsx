// Turns: what the agents of the project were asked lately.

import type { ReactNode } from "react";
import { useAgentNames } from "../agents/use-agent-names.ts";
import { projectPath } from "../api/request.ts";
import { usePages } from "../api/use-pages.ts";
import { turnOf } from "../events/call-event.ts";
import { useReloadOn } from "../events/event-hub.tsx";
import { ListOf } from "../parts/list-of.tsx";
import { Page } from "../parts/section.tsx";
import { spanBetween, spanText } from "../parts/span-text.ts";
import { Empty } from "../parts/states.tsx";
import { Status } from "../parts/status.tsx";
import { When } from "../parts/when.tsx";
import { Link } from "../router/use-place.tsx";
import { Text } from "../text/text.tsx";
import { isTurnOver, type TurnRow } from "./turn-body.ts";

interface TurnRowsProps {
  readonly project: string;
  readonly turns: readonly TurnRow[];
}

export const TurnRows = ({ project, turns }: TurnRowsProps): ReactNode => {
  const nameOf = useAgentNames(
    project,
    turns.map(({ agent_id }) => agent_id),
  );
  return (
    <ul className="rows" aria-label="Turns, newest first">
      {turns.map((turn) => (
        <li key={turn.agent_turn_id}>
          <Link className="row" to={{ kind: "turn", project, id: turn.agent_turn_id }}>
            <Status status={turn.status} />
            <span className="row-name">
              <Text most={64}>{nameOf(turn.agent_id)}</Text>
            </span>
            <span className="muted">
              {turn.step_count === 1 ? "1 step" : `${turn.step_count} steps`}
              {turn.recursion_depth > 0 && `, ${turn.recursion_depth} deep`}
            </span>
            {turn.error !== null && <code className="code">{turn.error.code}</code>}
            <span className="row-end muted">
              {isTurnOver(turn.status) && spanText(spanBetween(turn.created_at, turn.ended_at) ?? Number.NaN)}{" "}
              <When at={turn.created_at} />
            </span>
          </Link>
        </li>
      ))}
    </ul>
  );
};

export const TurnsPage = ({ project }: { readonly project: string }): ReactNode => {
  const turns = usePages<TurnRow>(projectPath(project, "turns"), { limit: 100 });
  useReloadOn((event) => event.isLogged && turnOf(event) !== "" && !event.subject.endsWith(".call"), turns.reload);
  return (
    <Page title="Turns" lead="Each turn is one task of one agent.">
      <ListOf
        what="turns"
        list={turns}
        empty={
          <Empty title="No turn yet">
            <p>
              Give an agent a task on the page <Link to={{ kind: "page", project, page: "agents" }}>Agents</Link>, and
              watch it here.
            </p>
          </Empty>
        }
      >
        {(items) => <TurnRows project={project} turns={items} />}
      </ListOf>
    </Page>
  );
};
