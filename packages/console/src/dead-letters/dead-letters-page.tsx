// Dead letters: what the plane gave up, why, and a way to send it again.

import type { ReactNode } from "react";
import { projectPath, request } from "../api/request.ts";
import { useAct } from "../api/use-act.ts";
import { usePages } from "../api/use-pages.ts";
import { useReloadOn } from "../events/event-hub.tsx";
import { Button } from "../parts/button.tsx";
import { ListOf } from "../parts/list-of.tsx";
import { ProblemNote } from "../parts/problem-note.tsx";
import { Facts, Page } from "../parts/section.tsx";
import { Empty } from "../parts/states.tsx";
import { When } from "../parts/when.tsx";
import { Link } from "../router/use-place.tsx";
import { useSession } from "../session/session.tsx";
import { Text } from "../text/text.tsx";

interface Letter {
  readonly dead_letter_id: string;
  readonly kind: string;
  readonly tool_call_id: string | null;
  readonly subject: string | null;
  readonly code: string;
  readonly reason: string;
  readonly attempts: number;
  readonly created_at: string;
  readonly replayed_at: string | null;
  readonly replayed_as: string | null;
}

const LetterCard = ({
  project,
  letter,
  onDone,
}: {
  readonly project: string;
  readonly letter: Letter;
  readonly onDone: () => void;
}): ReactNode => {
  const { rights } = useSession();
  const replay = useAct(async () => {
    await request(projectPath(project, "dead-letters", letter.dead_letter_id, "replay"), { method: "POST" });
    onDone();
  });
  const isCall = letter.tool_call_id !== null;
  return (
    <li className="card letter">
      <p>
        <code className="code">{letter.code}</code> <Text most={1_000}>{letter.reason}</Text>
      </p>
      <Facts
        facts={[
          [
            "Call",
            letter.tool_call_id && (
              <Link key="call" to={{ kind: "call", project, id: letter.tool_call_id }}>
                {letter.tool_call_id}
              </Link>
            ),
          ],
          ["Kind", letter.kind],
          ["Subject", letter.subject && <Text key="s">{letter.subject}</Text>],
          ["Attempts", letter.attempts],
          ["Given up", <When key="c" at={letter.created_at} />],
          ["Sent again", letter.replayed_at && <When key="r" at={letter.replayed_at} />],
          [
            "As",
            letter.replayed_as && (
              <Link key="as" to={{ kind: "call", project, id: letter.replayed_as }}>
                {letter.replayed_as}
              </Link>
            ),
          ],
        ]}
      />
      {isCall && rights.canOperate && letter.replayed_as === null && (
        <p className="acts">
          <Button busy={replay.isBusy} onClick={() => replay.run()}>
            Replay
          </Button>
          <span className="note">A new call with the same arguments. Replaying twice gives the same call.</span>
        </p>
      )}
      {replay.problem !== undefined && <ProblemNote problem={replay.problem} />}
    </li>
  );
};

export const DeadLettersPage = ({ project }: { readonly project: string }): ReactNode => {
  const letters = usePages<Letter>(projectPath(project, "dead-letters"), { limit: 50 });
  useReloadOn(({ payload }) => payload.phase === "dead", letters.reload);
  return (
    <Page title="Dead letters" lead="What the plane could not bring to an end.">
      <ListOf
        what="dead letters"
        list={letters}
        empty={
          <Empty title="Nothing was given up">
            <p>
              A call that runs out of attempts, or a message that cannot be understood, is kept here to be looked at.
            </p>
          </Empty>
        }
      >
        {(items) => (
          <ul className="cards">
            {items.map((letter) => (
              <LetterCard key={letter.dead_letter_id} project={project} letter={letter} onDone={letters.reload} />
            ))}
          </ul>
        )}
      </ListOf>
    </Page>
  );
};
