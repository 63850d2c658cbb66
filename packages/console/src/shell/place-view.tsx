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
import { ServicesPage } from "../fleet/services-page.tsx";
import { Page } from "../parts/section.tsx";
import { Empty } from "../parts/states.tsx";
import type { Place, ProjectPage } from "../router/place.ts";
import { Link } from "../router/use-place.tsx";
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

export const PlaceView = ({ place }: { readonly place: Place }): ReactNode => {
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
