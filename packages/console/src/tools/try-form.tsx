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

interface TryFormProps {
  readonly project: string;
  readonly tool: ToolBody;
  readonly onMade: () => void;
}

export const TryForm = ({ project, tool, onMade }: TryFormProps): ReactNode => {
  const fields = useMemo(() => planForm(tool.parameters), [tool.parameters]);
  const [texts, setTexts] = useState<Readonly<Record<string, string>>>({});
  const [wrong, setWrong] = useState<Readonly<Record<string, string>>>({});
  const [made, setMade] = useState<string>();
  const call = useAct(async (json: string) => {
    setMade(undefined);
    const text = `{"tool_name":${JSON.stringify(tool.tool_name)},"arguments":${json}}`;
    const path = projectPath(project, "calls");
    setMade((await request<{ readonly tool_call_id: string }>(path, { method: "POST", text })).tool_call_id);
    onMade();
  });
  return (
    <form
      className="stack"
      aria-label={`Try ${tool.tool_name}`}
      onSubmit={(event) => {
        event.preventDefault();
        const read = readForm(fields, texts);
        setWrong(read.wrong);
        if (Object.keys(read.wrong).length === 0) call.run(read.json);
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
