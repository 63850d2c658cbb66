// The versions of a tool: which is in force, which waits, and what changed from one to the next.

import { type ReactNode, useState } from "react";
import { projectPath } from "../api/request.ts";
import { usePages } from "../api/use-pages.ts";
import { Button } from "../parts/button.tsx";
import { ListOf } from "../parts/list-of.tsx";
import { Section } from "../parts/section.tsx";
import { Empty } from "../parts/states.tsx";
import { When } from "../parts/when.tsx";
import { DiffView } from "./diff-view.tsx";
import type { VersionBody } from "./tool-body.ts";

interface ToolVersionsProps {
  readonly project: string;
  readonly name: string;
  /** The version in force. */
  readonly current: number;
  /** Changes when the tool does. */
  readonly round: string;
}

export const ToolVersions = ({ project, name, current, round }: ToolVersionsProps): ReactNode => {
  const versions = usePages<VersionBody>(projectPath(project, "tools", name, "versions"), { limit: 20 });
  const [open, setOpen] = useState<number>();
  const [seen, setSeen] = useState(round);
  if (seen !== round) {
    setSeen(round);
    versions.reload();
  }
  return (
    <Section title="Versions">
      <ListOf
        what="versions"
        list={versions}
        empty={
          <Empty title="No version is kept">
            <p>Each registration that changes the tool becomes a version.</p>
          </Empty>
        }
      >
        {(items) => (
          <ol className="versions">
            {items.map(({ version, state, created_at, definition }, at) => {
              const before = items[at + 1]?.definition;
              return (
                <li key={version}>
                  <span className="version-head">
                    <strong>{`version ${version}`}</strong>
                    <span className="muted">{version === current ? "in force" : state}</span>
                    <When at={created_at} />
                    {before !== undefined && (
                      <Button
                        kind="quiet"
                        aria-expanded={open === version}
                        onClick={() => setOpen(open === version ? undefined : version)}
                      >
                        {open === version ? "Close" : "What changed"}
                      </Button>
                    )}
                  </span>
                  {open === version && <DiffView before={before} after={definition} />}
                </li>
              );
            })}
          </ol>
        )}
      </ListOf>
    </Section>
  );
};
