// Agent: who it is, a task for it, and what it did lately.

import type { ReactNode } from "react";
import { projectPath, request } from "../api/request.ts";
import { useLoad } from "../api/use-load.ts";
import { usePages } from "../api/use-pages.ts";
import { agentOf } from "../events/call-event.ts";
import { useReloadOn } from "../events/event-hub.tsx";
import { ListOf } from "../parts/list-of.tsx";
import { Facts, Page, Section } from "../parts/section.tsx";
import { Empty, Show } from "../parts/states.tsx";
import { Status } from "../parts/status.tsx";
import { When } from "../parts/when.tsx";
import { useSession } from "../session/session.tsx";
import { Text } from "../text/text.tsx";
import type { TurnRow } from "../turn/turn-body.ts";
import { TurnRows } from "../turn/turns-page.tsx";
import type { AgentBody } from "./agent-body.ts";
import { AskForm } from "./ask-form.tsx";

export const AgentPage = ({ project, id }: { readonly project: string; readonly id: string }): ReactNode => {
  const { rights } = useSession();
  const path = projectPath(project, "agents", id);
  const agent = useLoad(path, (signal) => request<AgentBody>(path, { signal }));
  const turns = usePages<TurnRow>(projectPath(project, "turns"), { agent_id: id, limit: 50 });
  useReloadOn((event) => event.isLogged && agentOf(event) === id && !event.subject.endsWith(".call"), turns.reload);
  return (
    <Page
      title={
        <>
          <span className="kicker">Agent</span> <Text most={64}>{id}</Text>
        </>
      }
      lead={agent.value && <Status status={agent.value.status} />}
    >
      <Show what="the agent" {...agent}>
        {(body) => (
          <>
            {rights.canCall && body.status === "active" && (
              <Section title="Give it a task">
                <AskForm project={project} agent={id} />
              </Section>
            )}
            <Section title="Turns">
              <ListOf
                what="its turns"
                list={turns}
                empty={
                  <Empty title="No turn yet">
                    <p>Give it a task above; each task is a turn and appears here.</p>
                  </Empty>
                }
              >
                {(items) => <TurnRows project={project} turns={items} />}
              </ListOf>
            </Section>
            <Section title="Facts">
              <Facts
                facts={[
                  ["Works at", body.worker_target],
                  ["Tags", body.tags.join(", ")],
                  ["Belongs to", body.owner_agent_id && <Text key="o">{body.owner_agent_id}</Text>],
                  ["Made", <When key="m" at={body.created_at} />],
                ]}
              />
            </Section>
          </>
        )}
      </Show>
    </Page>
  );
};
