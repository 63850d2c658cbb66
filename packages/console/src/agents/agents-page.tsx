// Agents: the roster of the project and the profiles behind it.

import type { ReactNode } from "react";
import { projectPath } from "../api/request.ts";
import { usePages } from "../api/use-pages.ts";
import { ListOf } from "../parts/list-of.tsx";
import { Page, Section } from "../parts/section.tsx";
import { Empty } from "../parts/states.tsx";
import { Status } from "../parts/status.tsx";
import { Link } from "../router/use-place.tsx";
import { Text } from "../text/text.tsx";
import type { AgentBody, ProfileBody } from "./agent-body.ts";

export const AgentsPage = ({ project }: { readonly project: string }): ReactNode => {
  const agents = usePages<AgentBody>(projectPath(project, "agents"), { limit: 200 });
  const profiles = usePages<ProfileBody>(projectPath(project, "profiles"), { limit: 200 });
  const nameOf = (box: string): string =>
    profiles.items?.find(({ profile_box_id }) => profile_box_id === box)?.name ?? "";
  return (
    <Page title="Agents" lead="Open an agent to give it a task.">
      <Section title="Roster">
        <ListOf
          what="agents"
          list={agents}
          empty={
            <Empty title="No agent yet">
              <p>
                Write a profile, then make an agent of it: <code>toolplane profiles apply profile.yaml</code> and{" "}
                <code>toolplane agents create NAME --profile PROFILE</code>
              </p>
            </Empty>
          }
        >
          {(items) => (
            <ul className="rows" aria-label="Agents">
              {items.map((agent) => (
                <li key={agent.agent_id}>
                  <Link className="row" to={{ kind: "agent", project, id: agent.agent_id }}>
                    <span className="row-name">
                      <Text most={64}>{agent.display_name ?? agent.agent_id}</Text>
                    </span>
                    <span className="row-text muted">
                      {nameOf(agent.profile_box_id) !== "" && (
                        <>
                          profile <Text most={100}>{nameOf(agent.profile_box_id)}</Text>
                        </>
                      )}
                    </span>
                    <span className="row-end">
                      {agent.status !== "active" && <Status status={agent.status} />}
                      <span className="muted">{agent.worker_target}</span>
                    </span>
                  </Link>
                </li>
              ))}
            </ul>
          )}
        </ListOf>
      </Section>
      <Section title="Profiles">
        <ListOf
          what="profiles"
          list={profiles}
          empty={
            <Empty title="No profile yet">
              <p>
                A profile says how an agent thinks and which tools it has. Register one from a file:{" "}
                <code>toolplane profiles apply profile.yaml</code>
              </p>
            </Empty>
          }
        >
          {(items) => (
            <ul className="rows" aria-label="Profiles">
              {items.map((profile) => (
                <li key={profile.profile_box_id}>
                  <details className="row-details">
                    <summary className="row">
                      <span className="row-name">
                        <Text most={64}>{profile.name}</Text>
                      </span>
                      <span className="row-text muted one-line">
                        <Text most={140}>{profile.system_prompt_compiled ?? "It has no prompt."}</Text>
                      </span>
                      <span className="row-end muted">{profile.tags.join(", ")}</span>
                    </summary>
                    <p className="prompt">
                      <Text most={4_000}>{profile.system_prompt_compiled ?? "It has no prompt."}</Text>
                    </p>
                  </details>
                </li>
              ))}
            </ul>
          )}
        </ListOf>
      </Section>
    </Page>
  );
};
