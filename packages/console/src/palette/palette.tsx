// The command palette: type where to go. Ctrl+K or / opens it; arrows choose, Enter goes.

import { type KeyboardEvent, type ReactNode, useEffect, useId, useMemo, useState } from "react";
import type { AgentBody } from "../agents/agent-body.ts";
import { type Page, projectPath, request } from "../api/request.ts";
import { useLoad } from "../api/use-load.ts";
import { Dialog } from "../parts/dialog.tsx";
import { goTo } from "../router/use-place.tsx";
import { useSession } from "../session/session.tsx";
import { Text } from "../text/text.tsx";
import type { ToolBody } from "../tools/tool-body.ts";
import { type Choice, listChoices, matchChoices } from "./palette-match.ts";

interface PaletteProps {
  readonly project: string | undefined;
  readonly onClose: () => void;
}

export const Palette = ({ project, onClose }: PaletteProps): ReactNode => {
  const { who, rights } = useSession();
  const [typed, setTyped] = useState("");
  const [at, setAt] = useState(0);
  const id = useId();
  const names = useLoad(project === undefined ? undefined : `names of ${project}`, async (signal) => {
    const [tools, agents] = await Promise.all([
      request<Page<ToolBody>>(`${projectPath(project ?? "", "tools")}?limit=500`, { signal }),
      request<Page<AgentBody>>(`${projectPath(project ?? "", "agents")}?limit=500`, { signal }),
    ]);
    return {
      tools: tools.items.map(({ tool_name }) => tool_name),
      agents: agents.items.map(({ agent_id }) => agent_id),
    };
  });
  const choices = useMemo(
    () =>
      listChoices({
        project,
        tools: names.value?.tools ?? [],
        agents: names.value?.agents ?? [],
        projects: who.projects.map(({ project_id }) => project_id),
        isAdmin: rights.isAdmin,
      }),
    [project, names.value, who, rights],
  );
  const shown = matchChoices(choices, project, typed);
  const chosen = Math.min(at, shown.length - 1);
  const go = (choice: Choice | undefined): void => {
    if (choice === undefined) return;
    onClose();
    goTo(choice.place);
  };
  // Enter came before the names of tools and agents: it counts when they are here, unless the text was changed meanwhile.
  const [entered, setEntered] = useState<string>();
  const [first] = shown;
  useEffect(() => {
    if (entered !== typed || first === undefined) return;
    onClose();
    goTo(first.place);
  }, [entered, typed, first, onClose]);
  const keys = (event: KeyboardEvent): void => {
    if (event.key === "ArrowDown") setAt(Math.min(chosen + 1, shown.length - 1));
    else if (event.key === "ArrowUp") setAt(Math.max(chosen - 1, 0));
    else if (event.key === "Enter" && shown.length > 0) go(shown[chosen]);
    else if (event.key === "Enter") setEntered(!names.isLoading ? undefined : typed);
    else return;
    event.preventDefault();
  };
  return (
    <Dialog title="Go to" className="palette" onClose={onClose}>
      <input
        autoFocus
        role="combobox"
        aria-label="Go to a page, a tool, an agent, or an id"
        aria-expanded="true"
        aria-controls={`${id}-list`}
        aria-activedescendant={`${id}-${chosen}`}
        placeholder="A page, a tool, an agent, an id"
        value={typed}
        onKeyDown={keys}
        onChange={(event) => {
          setTyped(event.target.value);
          setAt(0);
        }}
      />
      <div role="listbox" id={`${id}-list`} aria-label="Places">
        {shown.map((choice, index) => (
          <button
            type="button"
            key={`${choice.note} ${choice.label}`}
            id={`${id}-${index}`}
            role="option"
            tabIndex={-1}
            aria-selected={index === chosen}
            onClick={() => go(choice)}
          >
            <Text most={80}>{choice.label}</Text> <span className="muted">{choice.note}</span>
          </button>
        ))}
        {shown.length === 0 && (
          <p className="muted">
            {names.isLoading ? "Looking" : "Nothing has this name. Paste the id of a call, a turn or a trace."}
          </p>
        )}
      </div>
    </Dialog>
  );
};
