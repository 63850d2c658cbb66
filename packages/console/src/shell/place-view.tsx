// Which page a place shows.

import type { ReactNode } from "react";
import { AuditPage } from "../admin/audit-page.tsx";
import { ProjectsPage } from "../admin/projects-page.tsx";
import { TokensPage } from "../admin/tokens-page.tsx";
import { AgentPage } from "../agents/agent-page.tsx";
import { AgentsPage } from "../agents/agents-page.tsx";
import { ApprovalsPage } from "../approvals/approvals-page.tsx";
import { CallPage } from "../call/call-page.tsx";
import { NowPage } from "../calls/now-page.tsx";
import { CardPage } from "../card/card-page.tsx";
import { DeadLettersPage } from "../dead-letters/dead-letters-page.tsx";
import { useHub } from "../events/event-hub.tsx";
import { ServicesPage } from "../fleet/services-page.tsx";
import { Page } from "../parts/section.tsx";
import { Empty } from "../parts/states.tsx";
import { type Place, type ProjectPage, projectOf } from "../router/place.ts";
import { Link } from "../router/use-place.tsx";
import { useSession } from "../session/session.tsx";
import { Text } from "../text/text.tsx";
import { ToolPage } from "../tools/tool-page.tsx";
import { ToolsPage } from "../tools/tools-page.tsx";
import { TracePage } from "../trace/trace-page.tsx";
import { TurnPage } from "../turn/turn-page.tsx";
import { TurnsPage } from "../turn/turns-page.tsx";

const PAGES: Readonly<Record<ProjectPage, (props: { readonly project: string }) => ReactNode>> = {
  now: NowPage,
  turns: TurnsPage,
  tools: ToolsPage,
  agents: AgentsPage,
  approvals: ApprovalsPage,
  "dead-letters": DeadLettersPage,
  services: ServicesPage,
  audit: AuditPage,
};

const THINGS = {
  call: CallPage,
  turn: TurnPage,
  trace: TracePage,
  tool: ToolPage,
  card: CardPage,
  agent: AgentPage,
} as const;

/** A few are enough to see a wrong letter; the page of projects has the others. */
const MOST_NAMED = 5;

const NoProject = ({ project }: { readonly project: string }): ReactNode => {
  const { who } = useSession();
  return (
    <Page title="There is no such project">
      <Empty title="The project of this address does not exist">
        <p>
          <Text most={64}>{project}</Text> is no project of this plane. Look at{" "}
          {who.projects.slice(0, MOST_NAMED).map(({ project_id }) => (
            <span key={project_id}>
              <Link to={{ kind: "page", project: project_id, page: "now" }}>
                <Text most={64}>{project_id}</Text>
              </Link>
              {", "}
            </span>
          ))}
          <Link to={{ kind: "projects" }}>all projects</Link>.
        </p>
      </Empty>
    </Page>
  );
};

export const PlaceView = ({ place }: { readonly place: Place }): ReactNode => {
  const { state } = useHub();
  const project = projectOf(place);
  if (project !== undefined && state === "missing") return <NoProject project={project} />;
  switch (place.kind) {
    case "home":
    case "projects":
      return <ProjectsPage />;
    case "tokens":
      return <TokensPage />;
    case "page": {
      const Shown = PAGES[place.page];
      return <Shown key={`${place.project} ${place.page}`} project={place.project} />;
    }
    case "lost":
      return (
        <Page title="There is no such page">
          <Empty title="The address leads nowhere">
            <p>
              <Link to={{ kind: "home" }}>Go to the start</Link>, or press Ctrl+K and type where you want to go.
            </p>
          </Empty>
        </Page>
      );
    default: {
      const Shown = THINGS[place.kind];
      return <Shown key={`${place.project} ${place.kind} ${place.id}`} project={place.project} id={place.id} />;
    }
  }
};
