// Tools: what can be called in this project, and what waits for a person.

import { type ReactNode, useState } from "react";
import { type Page as ListPage, projectPath, request, withQuery } from "../api/request.ts";
import { useLoad } from "../api/use-load.ts";
import { usePages } from "../api/use-pages.ts";
import { ListOf } from "../parts/list-of.tsx";
import { Page } from "../parts/section.tsx";
import { Empty } from "../parts/states.tsx";
import { Status } from "../parts/status.tsx";
import { Link } from "../router/use-place.tsx";
import { Text } from "../text/text.tsx";
import { type ToolBody, targetOf } from "./tool-body.ts";

const holds = (tool: ToolBody, wanted: string): boolean =>
  `${tool.tool_name} ${tool.description} ${targetOf(tool)}`.toLowerCase().includes(wanted.toLowerCase());

export const ToolsPage = ({ project }: { readonly project: string }): ReactNode => {
  const path = projectPath(project, "tools");
  const tools = usePages<ToolBody>(path, { limit: 200 });
  const asked = withQuery(path, { pending: "true", limit: 200 });
  const pending = useLoad(asked, (signal) => request<ListPage<ToolBody>>(asked, { signal })).value?.items ?? [];
  const [wanted, setWanted] = useState("");
  const waiting = new Set(pending.map(({ tool_name }) => tool_name));
  const known = new Set(tools.items?.map(({ tool_name }) => tool_name));
  // A tool whose first definition waits is not in force yet, and is listed all the same.
  const items = tools.items && [...tools.items, ...pending.filter(({ tool_name }) => !known.has(tool_name))];
  return (
    <Page title="Tools" lead="What agents, programs and people can call in this project.">
      <ListOf
        what="tools"
        list={{ ...tools, items }}
        empty={
          <Empty title="No tool yet">
            <p>
              Register one from a file: <code>toolplane tools apply tool.yaml</code>, or start a service that brings its
              own: <code>toolplane init my-tool</code>
            </p>
          </Empty>
        }
      >
        {(all) => {
          const shown = all.filter((tool) => wanted === "" || holds(tool, wanted));
          return (
            <>
              <search className="filters">
                <input
                  type="search"
                  aria-label="Find a tool"
                  placeholder="Find a tool"
                  value={wanted}
                  onChange={(event) => setWanted(event.target.value)}
                />
              </search>
              <ul className="rows" aria-label="Tools">
                {shown.map((tool) => (
                  <li key={tool.tool_name}>
                    <Link className="row" to={{ kind: "tool", project, id: tool.tool_name }}>
                      <span className="row-name">
                        <Text most={64}>{tool.tool_name}</Text>
                      </span>
                      <span className="row-text muted two-lines">
                        <Text most={400}>{tool.description}</Text>
                      </span>
                      <span className="row-end">
                        {waiting.has(tool.tool_name) && <Status status="pending" />}
                        {tool.status !== "active" && <Status status={tool.status} />}
                        <span className="muted">{`${targetOf(tool)} v${tool.version}`}</span>
                      </span>
                    </Link>
                  </li>
                ))}
              </ul>
              {shown.length === 0 && <p className="muted">No tool holds this text.</p>}
            </>
          );
        }}
      </ListOf>
    </Page>
  );
};
