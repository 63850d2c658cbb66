// Tokens: which person or program may do what, for administrators.

import { type ReactNode, useState } from "react";
import { request } from "../api/request.ts";
import { useAct } from "../api/use-act.ts";
import { usePages } from "../api/use-pages.ts";
import { Button } from "../parts/button.tsx";
import { Dialog } from "../parts/dialog.tsx";
import { ListOf } from "../parts/list-of.tsx";
import { ProblemNote } from "../parts/problem-note.tsx";
import { Page, Section } from "../parts/section.tsx";
import { Empty } from "../parts/states.tsx";
import { When } from "../parts/when.tsx";
import { useSession } from "../session/session.tsx";
import { Text } from "../text/text.tsx";
import { Browsers } from "./browsers.tsx";
import { TokenForm } from "./token-form.tsx";

interface TokenBody {
  readonly token_id: string;
  readonly role: string;
  readonly project_id: string | null;
  readonly actor: string | null;
  readonly targets: readonly string[] | null;
  readonly label: string | null;
  readonly expires_at: string | null;
  readonly revoked_at: string | null;
}

const RevokeButton = ({ token, onDone }: { readonly token: TokenBody; readonly onDone: () => void }): ReactNode => {
  const [isAsked, setAsked] = useState(false);
  const revoke = useAct(async () => {
    await request(`/tokens/${encodeURIComponent(token.token_id)}`, { method: "DELETE" });
    setAsked(false);
    onDone();
  });
  return (
    <>
      <Button kind="quiet" onClick={() => setAsked(true)}>
        Revoke
      </Button>
      {isAsked && (
        <Dialog title="Revoke this token" onClose={() => setAsked(false)}>
          <div className="stack">
            <h2>Revoke this token</h2>
            <p>
              <Text most={200}>{token.label || token.token_id}</Text>: what uses it is refused at once, and its open
              streams end. This cannot be undone.
            </p>
            {revoke.problem !== undefined && <ProblemNote problem={revoke.problem} />}
            <div className="acts">
              <Button kind="risky" busy={revoke.isBusy} onClick={() => revoke.run()}>
                Revoke it
              </Button>
              <Button onClick={() => setAsked(false)}>Leave it</Button>
            </div>
          </div>
        </Dialog>
      )}
    </>
  );
};

const endOf = (token: TokenBody): ReactNode => {
  if (token.revoked_at !== null) return "revoked";
  if (token.expires_at === null) return "never ends";
  return (
    <>
      ends <When at={token.expires_at} />
    </>
  );
};

const TokenRow = ({ token, onDone }: { readonly token: TokenBody; readonly onDone: () => void }): ReactNode => {
  const speaksFor = [token.actor, ...(token.targets ?? [])].filter(Boolean).join(", ");
  return (
    <li className="row">
      <span className="row-name">
        <Text most={100}>{token.label || token.token_id}</Text>
      </span>
      <span className="row-text muted">
        {token.role} of <Text most={64}>{token.project_id ?? "every project"}</Text>
        {speaksFor !== "" && (
          <>
            , speaks for <Text most={200}>{speaksFor}</Text>
          </>
        )}
      </span>
      <span className="row-end">
        <span className="muted">{endOf(token)}</span>
        {token.revoked_at === null && <RevokeButton token={token} onDone={onDone} />}
      </span>
    </li>
  );
};

export const TokensPage = (): ReactNode => {
  const { who } = useSession();
  const tokens = usePages<TokenBody>("/tokens", { limit: 100 });
  return (
    <Page title="Tokens" lead="Keys for people and programs. Secrets are never shown again.">
      <Section title="All tokens">
        <ListOf
          what="tokens"
          list={tokens}
          empty={
            <Empty title="No token yet">
              <p>
                Make one below for a program or a person. The server&apos;s own is in the file <code>token</code> of its
                data directory.
              </p>
            </Empty>
          }
        >
          {(items) => (
            <ul className="rows" aria-label="Tokens">
              {items.map((token) => (
                <TokenRow key={token.token_id} token={token} onDone={tokens.reload} />
              ))}
            </ul>
          )}
        </ListOf>
      </Section>
      <Section title="New token">
        <TokenForm projects={who.projects.map(({ project_id }) => project_id)} onMade={tokens.reload} />
      </Section>
      <Browsers />
    </Page>
  );
};
