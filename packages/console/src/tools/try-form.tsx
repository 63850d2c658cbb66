// Try a tool: the form of its parameters, one call, and what came of it.

import { type ReactNode, useMemo, useState } from "react";
import { projectPath, request } from "../api/request.ts";
import { useAct } from "../api/use-act.ts";
import { Button } from "../parts/button.tsx";
import { ProblemNote } from "../parts/problem-note.tsx";
import { MadeCall } from "./made-call.tsx";
import { SchemaFields } from "./schema-fields.tsx";
import { planForm, readForm } from "./schema-form.ts";
import type { ToolBody } from "./tool-body.ts";

export const TryForm = ({ project, tool }: { readonly project: string; readonly tool: ToolBody }): ReactNode => {
  const fields = useMemo(() => planForm(tool.parameters), [tool.parameters]);
  const [texts, setTexts] = useState<Readonly<Record<string, string>>>({});
  const [wrong, setWrong] = useState<Readonly<Record<string, string>>>({});
  const [made, setMade] = useState<string>();
  const call = useAct(async (given: Readonly<Record<string, unknown>>) => {
    setMade(undefined);
    const body = { tool_name: tool.tool_name, arguments: given };
    const path = projectPath(project, "calls");
    setMade((await request<{ readonly tool_call_id: string }>(path, { method: "POST", body })).tool_call_id);
  });
  return (
    <form
      className="stack"
      aria-label={`Try ${tool.tool_name}`}
      onSubmit={(event) => {
        event.preventDefault();
        const read = readForm(fields, texts);
        setWrong(read.wrong);
        if (Object.keys(read.wrong).length === 0) call.run(read.arguments);
      }}
    >
      <SchemaFields
        fields={fields}
        texts={texts}
        wrong={wrong}
        onChange={(name, text) => setTexts((before) => ({ ...before, [name]: text }))}
      />
      <div className="acts">
        <Button type="submit" kind="main" busy={call.isBusy}>
          Call it
        </Button>
      </div>
      {call.problem !== undefined && <ProblemNote problem={call.problem} />}
      {made !== undefined && <MadeCall key={made} project={project} id={made} />}
    </form>
  );
};
