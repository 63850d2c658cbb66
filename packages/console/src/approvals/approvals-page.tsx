// Approvals: calls that wait for a person, with what will be done. The longest waiting is first.

import { type ReactNode, useState } from "react";
import { useAgentNames } from "../agents/use-agent-names.ts";
import { projectPath, request } from "../api/request.ts";
import { useAct } from "../api/use-act.ts";
import { usePages } from "../api/use-pages.ts";
import { kindOf } from "../events/call-event.ts";
import { useReloadOn } from "../events/event-hub.tsx";
import { ValueView } from "../json/value-view.tsx";
import { Button } from "../parts/button.tsx";
import { ListOf } from "../parts/list-of.tsx";
import { ReasonDialog } from "../parts/reason-dialog.tsx";
import { Page } from "../parts/section.tsx";
import { Empty } from "../parts/states.tsx";
import { When } from "../parts/when.tsx";
import { Link } from "../router/use-place.tsx";
import { useSession } from "../session/session.tsx";
import { Text } from "../text/text.tsx";

interface Waiting {
  readonly tool_call_id: string;
  readonly tool_name: string;
  readonly agent_id: string;
  readonly arguments: unknown;
  readonly asked_at: string;
  readonly expires_at: string | null;
}

const PHASES: ReadonlySet<unknown> = new Set(["approval_wanted", "approval_decided", "canceled", "settled", "dead"]);

type Verb = "approve" | "deny";

interface Decided {
  readonly id: string;
  readonly toolName: string;
  readonly verb: Verb;
}

/** The card is gone when its call was decided about: the way to the call stays. */
const DecidedNote = ({ project, decided }: { readonly project: string; readonly decided: Decided }): ReactNode => (
  <p className="todo" role="status">
    {decided.verb === "approve" ? "Approved: " : "Denied: "}
    <Link to={{ kind: "call", project, id: decided.id }}>
      <Text most={64}>{decided.toolName}</Text>
    </Link>
  </p>
);

interface CardProps {
  readonly agentName: string;
  readonly project: string;
  readonly waiting: Waiting;
  readonly onDone: (verb: Verb) => void;
}

const ApprovalCard = ({ project, waiting, agentName, onDone }: CardProps): ReactNode => {
  const { rights } = useSession();
  const [asked, setAsked] = useState<Verb>();
  const decide = useAct(async (verb: Verb, reason: string) => {
    const path = projectPath(project, "calls", waiting.tool_call_id, verb);
    await request(path, { method: "POST", body: reason === "" ? {} : { reason } });
    setAsked(undefined);
    onDone(verb);
  });
  return (
    <li className="card approval">
      <h2>
        <Link to={{ kind: "call", project, id: waiting.tool_call_id }}>
          <Text most={64}>{waiting.tool_name}</Text>
        </Link>
      </h2>
      <p className="muted">
        Asked by <Text>{agentName}</Text> at <When at={waiting.asked_at} />
        {waiting.expires_at !== null && (
          <>
            ; decide before <When at={waiting.expires_at} />
          </>
        )}
      </p>
      <ValueView label="It will run with" value={waiting.arguments} />
      {rights.canOperate ? (
        <p className="acts">
          <Button kind="main" onClick={() => setAsked("approve")}>
            Approve
          </Button>
          <Button onClick={() => setAsked("deny")}>Deny</Button>
        </p>
      ) : (
        <p className="note">An operator decides about it.</p>
      )}
      {asked !== undefined && (
        <ReasonDialog
          title={asked === "approve" ? "Approve this call" : "Deny this call"}
          act={asked === "approve" ? "Approve" : "Deny"}
          isRisky={asked === "deny"}
          isBusy={decide.isBusy}
          problem={decide.problem}
          onAct={(reason) => decide.run(asked, reason)}
          onClose={() => {
            decide.clear();
            setAsked(undefined);
          }}
        />
      )}
    </li>
  );
};

export const ApprovalsPage = ({ project }: { readonly project: string }): ReactNode => {
  const waiting = usePages<Waiting>(projectPath(project, "approvals"), { limit: 50 });
  const [decided, setDecided] = useState<Decided>();
  const nameOf = useAgentNames(project, waiting.items?.map(({ agent_id }) => agent_id) ?? []);
  useReloadOn((event) => kindOf(event) === "call" && PHASES.has(event.payload.phase), waiting.reload);
  return (
    <Page title="Approvals" lead="Calls that run only after a person said yes.">
      {decided !== undefined && <DecidedNote project={project} decided={decided} />}
      <ListOf
        what="approvals"
        list={waiting}
        empty={
          <Empty title="No call waits for you">
            <p>
              A tool with the option <code>approval: required</code> stops here before each call. New ones appear by
              themselves.
            </p>
          </Empty>
        }
      >
        {(items) => (
          <ul className="cards">
            {items.map((item) => (
              <ApprovalCard
                key={item.tool_call_id}
                project={project}
                waiting={item}
                agentName={nameOf(item.agent_id)}
                onDone={(verb) => {
                  setDecided({ id: item.tool_call_id, toolName: item.tool_name, verb });
                  waiting.reload();
                }}
              />
            ))}
          </ul>
        )}
      </ListOf>
    </Page>
  );
};
