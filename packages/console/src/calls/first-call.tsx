// A project without calls: one click makes the first one and shows what happened.

import type { ReactNode } from "react";
import { projectPath, request } from "../api/request.ts";
import { useAct } from "../api/use-act.ts";
import { Button } from "../parts/button.tsx";
import { ProblemNote } from "../parts/problem-note.tsx";
import { Empty } from "../parts/states.tsx";
import { goTo, Link } from "../router/use-place.tsx";
import { useSession } from "../session/session.tsx";

const WAIT_SECONDS = 10;

export const FirstCall = ({ project }: { readonly project: string }): ReactNode => {
  const { rights } = useSession();
  const first = useAct(async () => {
    const body = { tool_name: "echo", arguments: { hello: "world" }, wait_seconds: WAIT_SECONDS };
    const made = await request<{ tool_call_id: string }>(projectPath(project, "calls"), { method: "POST", body });
    goTo({ kind: "call", project, id: made.tool_call_id });
  });
  return (
    <Empty title="No call yet">
      <p>
        A call is one use of a tool. The plane stores it, hands it to a service that runs it, and keeps its result.
        Calls appear here as they happen.
      </p>
      {rights.canCall ? (
        <>
          <p>
            Make the first one: the tool <code>echo</code> gives back what it was given.
          </p>
          <p className="acts">
            <Button kind="main" busy={first.isBusy} onClick={() => first.run()}>
              Call echo
            </Button>
            <Link className="button plain" to={{ kind: "page", project, page: "tools" }}>
              Look at the tools
            </Link>
          </p>
          {first.problem !== undefined && <ProblemNote problem={first.problem} />}
        </>
      ) : (
        <p className="muted">Your token may look, not call. Calls of others appear here.</p>
      )}
    </Empty>
  );
};
