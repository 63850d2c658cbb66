// Tokens: which person or program may do what, for administrators.

import { type ReactNode, useState } from "react";
import { request } from "../api/request.ts";
import { useAct } from "../api/use-act.ts";
import { usePages } from "../api/use-pages.ts";
import { Button } from "../parts/button.tsx";
import { Dialog } from "../parts/dialog.tsx";
import { MoreButton } from "../parts/more-button.tsx";
import { ProblemNote } from "../parts/problem-note.tsx";
import { Page, Section } from "../parts/section.tsx";
import { Show } from "../parts/states.tsx";
import { When } from "../parts/when.tsx";
import { WideTable } from "../parts/wide-table.tsx";
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
  readonly created_at: string;
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

export const TokensPage = (): ReactNode => {
  const { who } = useSession();
  const tokens = usePages<TokenBody>("/tokens", { limit: 100 });
  return (
    <Page title="Tokens" lead="Keys for people and programs. Secrets are never shown again.">
      <Section title="New token">
        <TokenForm projects={who.projects.map(({ project_id }) => project_id)} onMade={tokens.reload} />
      </Section>
      <Section title="All tokens">
        <Show what="tokens" value={tokens.items} problem={tokens.problem} reload={tokens.reload}>
          {(items) => (
            <>
              <WideTable label="Tokens">
                <thead>
                  <tr>
                    <th scope="col">Label</th>
                    <th scope="col">Role</th>
                    <th scope="col">Project</th>
                    <th scope="col">Speaks for</th>
                    <th scope="col">Ends</th>
                    <th scope="col">
                      <span className="visually-hidden">Acts</span>
                    </th>
                  </tr>
                </thead>
                <tbody>
                  {items.map((token) => (
                    <tr key={token.token_id}>
                      <td>
                        <Text most={100}>{token.label || token.token_id}</Text>
                      </td>
                      <td>{token.role}</td>
                      <td>{token.project_id ?? "every project"}</td>
                      <td>
                        <Text most={200}>{[token.actor, ...(token.targets ?? [])].filter(Boolean).join(", ")}</Text>
                      </td>
                      <td>
                        {token.revoked_at !== null ? (
                          "revoked"
                        ) : token.expires_at === null ? (
                          "never"
                        ) : (
                          <When at={token.expires_at} />
                        )}
                      </td>
                      <td>{token.revoked_at === null && <RevokeButton token={token} onDone={tokens.reload} />}</td>
                    </tr>
                  ))}
                </tbody>
              </WideTable>
              <MoreButton more={tokens.more} />
            </>
          )}
        </Show>
      </Section>
      <Browsers />
    </Page>
  );
};
