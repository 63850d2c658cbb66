// The frame around every page: where you are, where you can go, and whether the page still hears the server.

import { type ReactNode, useCallback, useEffect, useRef, useState } from "react";
import { useWaitingCount } from "../approvals/use-waiting-count.ts";
import { useHub } from "../events/event-hub.tsx";
import { Palette } from "../palette/palette.tsx";
import { PAGE_NAMES } from "../palette/palette-match.ts";
import { Button } from "../parts/button.tsx";
import { Dialog } from "../parts/dialog.tsx";
import { Mark } from "../parts/mark.tsx";
import { type Place, PROJECT_PAGES, type ProjectPage, pathTo, projectOf } from "../router/place.ts";
import { goTo, isTyping, Link } from "../router/use-place.tsx";
import { useSession, type Who } from "../session/session.tsx";
import { visibleText } from "../text/visible-text.ts";
import { useTheme } from "./theme.tsx";

/** The project that was looked at last: pages of no project (tokens, projects) keep the way back to it. */
let lastProject: string | undefined;

/** `g` and then one of these goes there. */
const KEYS: Readonly<Record<string, ProjectPage>> = {
  n: "now",
  u: "turns",
  t: "tools",
  a: "agents",
  p: "approvals",
  d: "dead-letters",
  s: "services",
  l: "audit",
};
const G_WITHIN_MS = 1_500;

/** The part of the navigation that a place belongs to. */
const pageOf = (place: Place): ProjectPage | undefined => {
  switch (place.kind) {
    case "page":
      return place.page;
    case "call":
    case "trace":
      return "now";
    case "turn":
      return "turns";
    case "tool":
      return "tools";
    case "agent":
      return "agents";
    default:
      return undefined;
  }
};

const useKeys = (project: string | undefined, open: (what: "palette" | "keys") => void): void => {
  useEffect(() => {
    let pressedG = 0;
    const press = (event: KeyboardEvent): void => {
      if ((event.ctrlKey || event.metaKey) && event.key.toLowerCase() === "k") {
        event.preventDefault();
        open("palette");
        return;
      }
      if (event.ctrlKey || event.metaKey || event.altKey || isTyping(event.target)) return;
      if (document.querySelector("dialog[open]") !== null) return;
      const page = KEYS[event.key];
      if (Date.now() - pressedG < G_WITHIN_MS && page !== undefined && project !== undefined) {
        event.preventDefault();
        goTo({ kind: "page", project, page });
      } else if (event.key === "/") {
        event.preventDefault();
        open("palette");
      } else if (event.key === "?") open("keys");
      pressedG = event.key === "g" ? Date.now() : 0;
    };
    window.addEventListener("keydown", press);
    return () => window.removeEventListener("keydown", press);
  }, [project, open]);
};

const KeysDialog = ({ onClose }: { readonly onClose: () => void }): ReactNode => (
  <Dialog title="Keys" onClose={onClose}>
    <div className="stack">
      <h2>Keys</h2>
      <dl className="keys">
        <div>
          <dt>
            <kbd>Ctrl</kbd> <kbd>K</kbd> or <kbd>/</kbd>
          </dt>
          <dd>go anywhere</dd>
        </div>
        <div>
          <dt>
            <kbd>j</kbd> <kbd>k</kbd> or arrows
          </dt>
          <dd>move in the list of calls</dd>
        </div>
        <div>
          <dt>
            <kbd>Enter</kbd>
          </dt>
          <dd>open</dd>
        </div>
        {Object.entries(KEYS).map(([key, page]) => (
          <div key={key}>
            <dt>
              <kbd>g</kbd> <kbd>{key}</kbd>
            </dt>
            <dd>{PAGE_NAMES[page]}</dd>
          </div>
        ))}
        <div>
          <dt>
            <kbd>+</kbd> <kbd>-</kbd> <kbd>0</kbd> arrows
          </dt>
          <dd>zoom and move a graph</dd>
        </div>
      </dl>
      <div className="acts">
        <Button onClick={onClose}>Close</Button>
      </div>
    </div>
  </Dialog>
);

const ProjectSwitch = ({ project }: { readonly project: string | undefined }): ReactNode => {
  const { who } = useSession();
  const ids = who.projects.map(({ project_id }) => project_id);
  const all = project === undefined || ids.includes(project) ? ids : [project, ...ids];
  if (all.length < 2 && project !== undefined) return <span className="project-name">{visibleText(project)}</span>;
  return (
    <select
      aria-label="Project"
      className="project-switch"
      value={project ?? ""}
      onChange={(event) => goTo({ kind: "page", project: event.target.value, page: "now" })}
    >
      {project === undefined && <option value="">Choose a project</option>}
      {all.map((id) => (
        <option key={id}>{id}</option>
      ))}
    </select>
  );
};

const Navigation = ({ place, project }: { readonly place: Place; readonly project: string | undefined }): ReactNode => {
  const { rights } = useSession();
  const current = pageOf(place);
  const waiting = useWaitingCount(project);
  const pages = PROJECT_PAGES.filter((page) => page !== "audit" || rights.canOperate);
  // On a phone the navigation is a strip that scrolls: the current page is in sight.
  const strip = useRef<HTMLElement>(null);
  const at = current ?? place.kind;
  useEffect(() => {
    if (at === undefined) return;
    strip.current?.querySelector("[aria-current]")?.scrollIntoView({ block: "nearest", inline: "nearest" });
  }, [at]);
  return (
    <nav ref={strip} className="nav" aria-label="Pages">
      {project !== undefined &&
        pages.map((page) => (
          <Link key={page} to={{ kind: "page", project, page }} aria-current={current === page ? "page" : undefined}>
            {PAGE_NAMES[page]}
            {page === "approvals" && waiting !== "" && (
              <span className="count">
                {waiting} <span className="visually-hidden">wait</span>
              </span>
            )}
          </Link>
        ))}
      <Link
        className="nav-first-of-all"
        to={{ kind: "projects" }}
        aria-current={place.kind === "projects" ? "page" : undefined}
      >
        Projects
      </Link>
      {rights.isAdmin && (
        <Link to={{ kind: "tokens" }} aria-current={place.kind === "tokens" ? "page" : undefined}>
          Tokens
        </Link>
      )}
    </nav>
  );
};

const firstOf = ({ projects }: Who, last: string | undefined): string | undefined =>
  projects.find(({ project_id }) => project_id === last)?.project_id ?? projects[0]?.project_id;

interface ShellProps {
  readonly place: Place;
  readonly children: ReactNode;
}

export const Shell = ({ place, children }: ShellProps): ReactNode => {
  const { who, leave } = useSession();
  const { theme, toggle } = useTheme();
  const { state } = useHub();
  const [opened, setOpened] = useState<"palette" | "keys">();
  const own = projectOf(place);
  if (own !== undefined) lastProject = own;
  const project = own ?? firstOf(who, lastProject);
  useKeys(project, setOpened);
  const close = useCallback(() => setOpened(undefined), []);
  // A person who uses the keyboard goes on in the new page, and a screen reader begins to read it.
  const path = pathTo(place);
  const seen = useRef(path);
  useEffect(() => {
    if (seen.current === path) return;
    seen.current = path;
    document.getElementById("main")?.focus({ preventScroll: true });
  }, [path]);
  return (
    <div className="shell">
      <a className="skip" href="#main">
        Go to the content
      </a>
      <header className="bar">
        <Link to={{ kind: "home" }} className="brand" aria-label="Toolplane, start">
          <Mark />
          <span className="brand-name">Toolplane</span>
        </Link>
        <ProjectSwitch project={project} />
        <button type="button" className="find" onClick={() => setOpened("palette")}>
          <span>Go to</span> <kbd>Ctrl K</kbd>
        </button>
        <div className="bar-end">
          <Button kind="quiet" onClick={() => setOpened("keys")} aria-label="Keys">
            ?
          </Button>
          <Button kind="quiet" onClick={toggle} aria-label={theme === "dark" ? "Light colours" : "Dark colours"}>
            {theme === "dark" ? "☀" : "☾"}
          </Button>
          <span className="muted who">{visibleText(who.actor ?? who.role)}</span>
          <Button kind="quiet" onClick={leave}>
            Log out
          </Button>
        </div>
      </header>
      <Navigation place={place} project={project} />
      {own !== undefined && state === "away" && (
        <p className="away" role="status">
          The server does not answer. What you see is what was known; the page connects again by itself.
        </p>
      )}
      {children}
      {opened === "palette" && <Palette project={project} onClose={close} />}
      {opened === "keys" && <KeysDialog onClose={close} />}
    </div>
  );
};
