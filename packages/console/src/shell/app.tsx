// The console: logs in, then shows the place that the address names.

import { type ReactNode, useCallback, useEffect, useMemo, useRef, useState } from "react";
import { type ApiProblem, toProblem } from "../api/problem.ts";
import { EventHub } from "../events/event-hub.tsx";
import { ProblemNote } from "../parts/problem-note.tsx";
import { Loading } from "../parts/states.tsx";
import { pathTo, projectOf } from "../router/place.ts";
import { goTo, useHere } from "../router/use-place.tsx";
import { LoginPage } from "../session/login-page.tsx";
import { askWho, codeIn, logIn, logOut, rightsOf, SessionContext, type Who } from "../session/session.tsx";
import { PageGuard } from "./page-guard.tsx";
import { PlaceView } from "./place-view.tsx";
import { Shell } from "./shell.tsx";

type Login =
  | { readonly state: "asking" }
  | { readonly state: "in"; readonly who: Who }
  | { readonly state: "out"; readonly problem?: ApiProblem }
  | { readonly state: "away"; readonly problem: ApiProblem };

/** The code is used once, and taken out of the address at once: a copied address must not log anybody in. */
const enter = async (): Promise<Who> => {
  const code = codeIn(window.location.hash);
  if (code === undefined) return askWho();
  window.history.replaceState(null, "", window.location.pathname + window.location.search);
  return logIn({ code });
};

const outcome = (problem: ApiProblem, cameWithCode: boolean): Login => {
  if (problem.code === "server_away" || problem.status >= 500) return { state: "away", problem };
  // A person who opens the page without a session sees the login page and no error.
  return cameWithCode || problem.status !== 401 ? { state: "out", problem } : { state: "out" };
};

const firstProject = ({ project, projects }: Who): string | undefined =>
  project ??
  (projects.length === 1
    ? projects[0]?.project_id
    : projects.find(({ project_id }) => project_id === "demo")?.project_id);

const AWAY_MS = 2_000;

export const App = (): ReactNode => {
  const [login, setLogin] = useState<Login>({ state: "asking" });
  const { place } = useHere();
  const project = projectOf(place);
  const began = useRef(false);

  const ask = useCallback((): void => {
    const cameWithCode = codeIn(window.location.hash) !== undefined;
    enter().then(
      (who) => setLogin({ state: "in", who }),
      (thrown: unknown) => setLogin(outcome(toProblem(thrown), cameWithCode)),
    );
  }, []);
  useEffect(() => {
    // React runs effects twice in development, and the code works once.
    if (began.current) return;
    began.current = true;
    ask();
    window.addEventListener("hashchange", () => {
      if (codeIn(window.location.hash) !== undefined) ask();
    });
  }, [ask]);
  useEffect(() => {
    if (login.state !== "away") return;
    const timer = setTimeout(ask, AWAY_MS);
    return () => clearTimeout(timer);
  }, [login, ask]);

  const who = login.state === "in" ? login.who : undefined;
  useEffect(() => {
    if (who === undefined || place.kind !== "home") return;
    const first = firstProject(who);
    if (first !== undefined) goTo({ kind: "page", project: first, page: "now" }, "replace");
  }, [who, place.kind]);

  const session = useMemo(
    () =>
      who && {
        who,
        rights: rightsOf(who.role),
        leave: () => {
          logOut().then(
            () => setLogin({ state: "out" }),
            (thrown: unknown) => setLogin({ state: "out", problem: toProblem(thrown) }),
          );
        },
        refresh: async () => setLogin({ state: "in", who: await askWho() }),
      },
    [who],
  );

  if (session === undefined) {
    if (login.state === "out") {
      return <LoginPage reason={login.problem} onLogin={(fresh) => setLogin({ state: "in", who: fresh })} />;
    }
    return (
      <main className="login" id="main">
        {login.state === "away" ? (
          <ProblemNote problem={login.problem} onRetry={ask} />
        ) : (
          <Loading what="the console" />
        )}
      </main>
    );
  }
  return (
    <SessionContext value={session}>
      <EventHub project={project} onRefused={ask}>
        <Shell place={place}>
          <PageGuard key={pathTo(place)}>
            <PlaceView place={place} />
          </PageGuard>
        </Shell>
      </EventHub>
    </SessionContext>
  );
};
