// What a person can do with a call: cancel it, decide about it, make it again.

import { type ReactNode, useState } from "react";
import { projectPath, request } from "../api/request.ts";
import { useAct } from "../api/use-act.ts";
import { isOver } from "../calls/call-rows.ts";
import { Button } from "../parts/button.tsx";
import { ProblemNote } from "../parts/problem-note.tsx";
import { ReasonDialog } from "../parts/reason-dialog.tsx";
import { goTo } from "../router/use-place.tsx";
import { useSession } from "../session/session.tsx";
import type { CallBody } from "./call-body.ts";

interface CallActsProps {
  readonly project: string;
  readonly call: CallBody;
  readonly onDone: () => void;
}

type Verb = "cancel" | "approve" | "deny";
const TITLES: Readonly<Record<Verb, string>> = {
  cancel: "Cancel this call",
  approve: "Approve this call",
  deny: "Deny this call",
};
const WORDS: Readonly<Record<Verb, string>> = { cancel: "Cancel the call", approve: "Approve", deny: "Deny" };

export const CallActs = ({ project, call, onDone }: CallActsProps): ReactNode => {
  const { rights } = useSession();
  const [asked, setAsked] = useState<Verb>();
  const path = projectPath(project, "calls", call.tool_call_id);
  const decide = useAct(async (verb: Verb, reason: string) => {
    await request(`${path}/${verb}`, { method: "POST", body: reason === "" ? {} : { reason } });
    setAsked(undefined);
    onDone();
  });
  const retry = useAct(async () => {
    const made = await request<{ tool_call_id: string }>(`${path}/retry`, { method: "POST", body: {} });
    goTo({ kind: "call", project, id: made.tool_call_id });
  });
  const over = isOver(call.status);
  const waits = call.status === "awaiting_approval";
  return (
    <>
      {waits && rights.canOperate && (
        <>
          <Button kind="main" onClick={() => setAsked("approve")}>
            Approve
          </Button>
          <Button onClick={() => setAsked("deny")}>Deny</Button>
        </>
      )}
      {!over && rights.canCall && (
        <Button kind="risky" onClick={() => setAsked("cancel")}>
          Cancel
        </Button>
      )}
      {over && rights.canOperate && (
        <Button busy={retry.isBusy} onClick={() => retry.run()} title="A new call with the same arguments">
          Make it again
        </Button>
      )}
      {retry.problem !== undefined && <ProblemNote problem={retry.problem} />}
      {asked !== undefined && (
        <ReasonDialog
          title={TITLES[asked]}
          act={WORDS[asked]}
          isRisky={asked !== "approve"}
          isBusy={decide.isBusy}
          problem={decide.problem}
          onAct={(reason) => decide.run(asked, reason)}
          onClose={() => {
            decide.clear();
            setAsked(undefined);
          }}
        >
          {asked === "cancel" && (
            <p className="muted">A service that runs it is told to stop. The call settles as canceled.</p>
          )}
          {asked === "approve" && <p className="muted">The call runs with the arguments that this page shows.</p>}
          {asked === "deny" && <p className="muted">The call fails with approval_denied; it never runs.</p>}
        </ReasonDialog>
      )}
    </>
  );
};
