// Try a tool: the form of its parameters, one call, and what came of it.

import { type ReactNode, useMemo, useState } from "react";
import { projectPath, request } from "../api/request.ts";
import { useAct } from "../api/use-act.ts";
import { ValueView } from "../json/value-view.tsx";
import { Button } from "../parts/button.tsx";
import { ProblemNote } from "../parts/problem-note.tsx";
import { Status } from "../parts/status.tsx";
import { Link } from "../router/use-place.tsx";
import { SchemaFields } from "./schema-fields.tsx";
import { planForm, readForm } from "./schema-form.ts";
import type { ToolBody } from "./tool-body.ts";

const WAIT_SECONDS = 20;

interface Made {
  readonly tool_call_id: string;
  readonly status: string;
  readonly result?: unknown;
  readonly error?: unknown;
}

export const TryForm = ({ project, tool }: { readonly project: string; readonly tool: ToolBody }): ReactNode => {
  const fields = useMemo(() => planForm(tool.parameters), [tool.parameters]);
  const [texts, setTexts] = useState<Readonly<Record<string, string>>>({});
  const [wrong, setWrong] = useState<Readonly<Record<string, string>>>({});
  const [made, setMade] = useState<Made>();
  const call = useAct(async (given: Readonly<Record<string, unknown>>) => {
    setMade(undefined);
    const body = { tool_name: tool.tool_name, arguments: given, wait_seconds: WAIT_SECONDS };
    setMade(await request<Made>(projectPath(project, "calls"), { method: "POST", body }));
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
        {call.isBusy && (
          <span className="muted">It runs. The page waits {WAIT_SECONDS} seconds; the call goes on.</span>
        )}
      </div>
      {call.problem !== undefined && <ProblemNote problem={call.problem} />}
      {made !== undefined && (
        <div className="made" role="status">
          <p>
            <Status status={made.status} />{" "}
            <Link to={{ kind: "call", project, id: made.tool_call_id }}>Open the call</Link>
          </p>
          {made.error !== undefined && <ValueView label="Error" value={made.error} />}
          {made.result !== undefined && made.result !== null && <ValueView label="Result" value={made.result} />}
        </div>
      )}
    </form>
  );
};
