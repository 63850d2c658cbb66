// Give an agent a task, and go where it can be watched.

import { type ReactNode, useState } from "react";
import { projectPath, request } from "../api/request.ts";
import { useAct } from "../api/use-act.ts";
import { Button } from "../parts/button.tsx";
import { Field } from "../parts/field.tsx";
import { ProblemNote } from "../parts/problem-note.tsx";
import { goTo } from "../router/use-place.tsx";

export const AskForm = ({ project, agent }: { readonly project: string; readonly agent: string }): ReactNode => {
  const [instruction, setInstruction] = useState("");
  const ask = useAct(async () => {
    const path = projectPath(project, "agents", agent, "turns");
    const turn = await request<{ agent_turn_id: string }>(path, { method: "POST", body: { instruction } });
    goTo({ kind: "turn", project, id: turn.agent_turn_id });
  });
  return (
    <form
      className="stack"
      onSubmit={(event) => {
        event.preventDefault();
        ask.run();
      }}
    >
      <Field
        label="Task"
        note="What the agent is to do. The page goes to the turn, where it can be watched and stopped."
      >
        {(id, described) => (
          <textarea
            id={id}
            aria-describedby={described}
            rows={3}
            value={instruction}
            onChange={(event) => setInstruction(event.target.value)}
          />
        )}
      </Field>
      <div className="acts">
        <Button type="submit" kind="main" busy={ask.isBusy} disabled={instruction.trim() === ""}>
          Start
        </Button>
      </div>
      {ask.problem !== undefined && <ProblemNote problem={ask.problem} />}
    </form>
  );
};
