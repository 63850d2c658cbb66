// Projects: those that this login may see; administrators make new ones.

import { type ReactNode, useState } from "react";
import { request } from "../api/request.ts";
import { useAct } from "../api/use-act.ts";
import { usePages } from "../api/use-pages.ts";
import { Button } from "../parts/button.tsx";
import { Field } from "../parts/field.tsx";
import { ListOf } from "../parts/list-of.tsx";
import { ProblemNote } from "../parts/problem-note.tsx";
import { Page, Section } from "../parts/section.tsx";
import { Empty } from "../parts/states.tsx";
import { goTo, Link } from "../router/use-place.tsx";
import { useSession } from "../session/session.tsx";
import { Text } from "../text/text.tsx";

const ProjectForm = (): ReactNode => {
  const { refresh } = useSession();
  const [title, setTitle] = useState("");
  const make = useAct(async () => {
    const made = await request<{ project_id: string }>("/projects", { method: "POST", body: { title } });
    await refresh();
    goTo({ kind: "page", project: made.project_id, page: "now" });
  });
  return (
    <form
      className="stack narrow"
      onSubmit={(event) => {
        event.preventDefault();
        make.run();
      }}
    >
      <Field label="Title">
        {(id) => <input id={id} value={title} onChange={(event) => setTitle(event.target.value)} />}
      </Field>
      <div className="acts">
        <Button type="submit" kind="main" busy={make.isBusy} disabled={title.trim() === ""}>
          Make a project
        </Button>
      </div>
      {make.problem !== undefined && <ProblemNote problem={make.problem} />}
    </form>
  );
};

interface ProjectBody {
  readonly project_id: string;
  readonly title: string | null;
}

export const ProjectsPage = (): ReactNode => {
  const { rights } = useSession();
  const projects = usePages<ProjectBody>("/projects", { limit: 100 });
  return (
    <Page title="Projects" lead="Tools, agents and calls belong to a project.">
      <ListOf
        what="projects"
        list={projects}
        empty={
          <Empty title="No project yet">
            <p>
              {rights.isAdmin
                ? "Make one below, or start the server with --demo for one that has tools and an agent."
                : "Your token belongs to no project. Ask an administrator for one that does."}
            </p>
          </Empty>
        }
      >
        {(items) => (
          <ul className="rows" aria-label="Projects">
            {items.map(({ project_id, title }) => (
              <li key={project_id}>
                <Link className="row" to={{ kind: "page", project: project_id, page: "now" }}>
                  <span className="row-name">
                    <Text most={64}>{project_id}</Text>
                  </span>
                  <span className="row-text muted">
                    <Text most={140}>{title ?? ""}</Text>
                  </span>
                </Link>
              </li>
            ))}
          </ul>
        )}
      </ListOf>
      {rights.isAdmin && (
        <Section title="New project">
          <ProjectForm />
        </Section>
      )}
    </Page>
  );
};
