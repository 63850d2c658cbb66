// Browsers that are logged in, for administrators: each can be logged out.

import type { ReactNode } from "react";
import { request } from "../api/request.ts";
import { useAct } from "../api/use-act.ts";
import { usePages } from "../api/use-pages.ts";
import { Button } from "../parts/button.tsx";
import { ListOf } from "../parts/list-of.tsx";
import { ProblemNote } from "../parts/problem-note.tsx";
import { Section } from "../parts/section.tsx";
import { Empty } from "../parts/states.tsx";
import { When } from "../parts/when.tsx";
import { Text } from "../text/text.tsx";
import { browserWords } from "./browser-words.ts";

interface BrowserBody {
  readonly session_id: string;
  readonly role: string;
  readonly label: string | null;
  readonly browser: string | null;
  readonly seen_at: string;
}

const BrowserRow = ({ session, onDone }: { readonly session: BrowserBody; readonly onDone: () => void }): ReactNode => {
  const end = useAct(async () => {
    await request(`/sessions/${encodeURIComponent(session.session_id)}`, { method: "DELETE" });
    onDone();
  });
  return (
    <li className="row">
      <span className="row-name">
        <Text most={64}>{session.label || session.role}</Text>
      </span>
      <span className="row-text muted">
        <Text most={160}>{browserWords(session.browser)}</Text>
      </span>
      <span className="row-end">
        <span className="muted">
          seen <When at={session.seen_at} />
        </span>
        <Button kind="quiet" busy={end.isBusy} onClick={() => end.run()}>
          Log it out
        </Button>
      </span>
      {end.problem !== undefined && <ProblemNote problem={end.problem} />}
    </li>
  );
};

export const Browsers = (): ReactNode => {
  const sessions = usePages<BrowserBody>("/sessions", { limit: 100 });
  return (
    <Section title="Browsers that are logged in">
      <ListOf
        what="sessions"
        list={sessions}
        empty={
          <Empty title="No browser is logged in">
            <p>
              <code>toolplane console</code> prints a link that logs a browser in.
            </p>
          </Empty>
        }
      >
        {(items) => (
          <ul className="rows" aria-label="Browsers">
            {items.map((session) => (
              <BrowserRow key={session.session_id} session={session} onDone={sessions.reload} />
            ))}
          </ul>
        )}
      </ListOf>
    </Section>
  );
};
