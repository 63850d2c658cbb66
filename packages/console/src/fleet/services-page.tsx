// Hosts and services: which process serves what, what does not run, and its last words.

import { type ReactNode, useEffect } from "react";
import { projectPath } from "../api/request.ts";
import { usePages } from "../api/use-pages.ts";
import { ListOf } from "../parts/list-of.tsx";
import { ScrollText } from "../parts/scroll-text.tsx";
import { Facts, Page, Section } from "../parts/section.tsx";
import { Empty } from "../parts/states.tsx";
import { Status } from "../parts/status.tsx";
import { When } from "../parts/when.tsx";
import { Text } from "../text/text.tsx";
import type { HostBody, ServiceBody } from "./fleet-body.ts";

const EVERY_MS = 5_000;

const HostCard = ({ host }: { readonly host: HostBody }): ReactNode => (
  <li className="card host">
    <h3>
      <Text most={64}>{host.name}</Text> <Status status={host.state} />
    </h3>
    {host.problem !== null && (
      <div className="problem">
        <Text most={1_000}>{host.problem.message}</Text> <code className="code">{host.problem.code}</code>
      </div>
    )}
    {host.todo !== null && (
      <p className="todo">
        <Text most={1_000}>{host.todo}</Text>
      </p>
    )}
    <Facts
      facts={[
        ["Program", host.program && <Text key="p">{host.program}</Text>],
        [
          "Tools",
          <Text key="t" most={1_000}>
            {host.tools.join(", ")}
          </Text>,
        ],
        ["Left out", host.refused.length === 0 ? undefined : `${host.refused.length} tools`],
        [
          "Processes",
          host.processes.map(({ pid, state, in_flight }) => `${pid ?? "?"} ${state}, ${in_flight} running`).join("; "),
        ],
        ["Waiting calls", host.queued],
        ["Starts", host.starts],
        ["Crashes", host.crashes],
        ["Breaker", host.breaker?.state],
      ]}
    />
    {host.last_stderr.length > 0 && (
      <details>
        <summary>Last words</summary>
        <ScrollText>
          <Text most={8_000}>{host.last_stderr.join("\n")}</Text>
        </ScrollText>
      </details>
    )}
  </li>
);

export const ServicesPage = ({ project }: { readonly project: string }): ReactNode => {
  const hosts = usePages<HostBody>(projectPath(project, "hosts"));
  const services = usePages<ServiceBody>(projectPath(project, "services"));
  const { reload: again } = hosts;
  const { reload } = services;
  useEffect(() => {
    const timer = setInterval(() => {
      if (document.hidden) return;
      again();
      reload();
    }, EVERY_MS);
    return () => clearInterval(timer);
  }, [again, reload]);
  return (
    <Page title="Hosts and services" lead="What runs the tools of this project.">
      <Section title="Services">
        <ListOf
          what="services"
          list={services}
          empty={
            <Empty title="No service asks for work">
              <p>
                Calls wait until a service takes them. Start one, for example <code>toolplane init my-tool</code>, or
                run the server with the role <code>tools</code>.
              </p>
            </Empty>
          }
        >
          {(items) => (
            <ul className="rows" aria-label="Services">
              {items.map(({ target, holder, last_seen_at }) => (
                <li key={`${target} ${holder}`} className="row">
                  <span className="row-name">
                    <Text most={64}>{target}</Text>
                  </span>
                  <span className="row-text muted">
                    <Text most={128}>{holder}</Text>
                  </span>
                  <span className="row-end muted">
                    asked for work <When at={last_seen_at} />
                  </span>
                </li>
              ))}
            </ul>
          )}
        </ListOf>
      </Section>
      <Section title="Hosts">
        <ListOf
          what="hosts"
          list={hosts}
          empty={
            <Empty title="No host is configured">
              <p>
                A host is a program of yours, or an MCP server, that the plane starts and watches. Name it in{" "}
                <code>toolplane.yaml</code> under <code>hosts</code> or <code>mcp_servers</code>.
              </p>
            </Empty>
          }
        >
          {(items) => (
            <ul className="cards">
              {items.map((host) => (
                <HostCard key={host.name} host={host} />
              ))}
            </ul>
          )}
        </ListOf>
      </Section>
    </Page>
  );
};
