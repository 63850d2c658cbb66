// The way in: the link that `up` prints logs in by itself; a token can be pasted.

import { type ReactNode, useState } from "react";
import type { ApiProblem } from "../api/problem.ts";
import { useAct } from "../api/use-act.ts";
import { Button } from "../parts/button.tsx";
import { Field } from "../parts/field.tsx";
import { Mark } from "../parts/mark.tsx";
import { ProblemNote } from "../parts/problem-note.tsx";
import { logIn, type Who } from "./session.tsx";

interface LoginPageProps {
  /** Why the link did not work, or the session ended. */
  readonly reason: ApiProblem | undefined;
  readonly onLogin: (who: Who) => void;
}

export const LoginPage = ({ reason, onLogin }: LoginPageProps): ReactNode => {
  const [token, setToken] = useState("");
  const enter = useAct(async () => onLogin(await logIn({ token: token.trim() })));
  const problem = enter.problem ?? reason;
  return (
    <main className="login" id="main">
      <Mark />
      <h1>Toolplane</h1>
      <p className="muted">
        Open the link that <code>toolplane up</code> prints: it logs this browser in. Or paste a token.
      </p>
      {problem !== undefined && <ProblemNote problem={problem} />}
      <form
        className="stack"
        onSubmit={(event) => {
          event.preventDefault();
          enter.run();
        }}
      >
        <Field label="Token" note="The first token is in the file <data>/token. The browser does not keep it.">
          {(id) => (
            <input
              id={id}
              type="password"
              autoComplete="off"
              spellCheck={false}
              value={token}
              onChange={(event) => setToken(event.target.value)}
            />
          )}
        </Field>
        <Button kind="main" type="submit" busy={enter.isBusy} disabled={token.trim() === ""}>
          Log in
        </Button>
      </form>
    </main>
  );
};
