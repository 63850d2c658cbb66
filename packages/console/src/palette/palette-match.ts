// What the palette offers for what was typed. Pure.

import { type Place, PROJECT_PAGES, type ProjectPage } from "../router/place.ts";

export interface Choice {
  readonly label: string;
  readonly note: string;
  readonly place: Place;
}

export const PAGE_NAMES: Readonly<Record<ProjectPage, string>> = {
  now: "Now",
  turns: "Turns",
  tools: "Tools",
  agents: "Agents",
  approvals: "Approvals",
  "dead-letters": "Dead letters",
  services: "Hosts and services",
  audit: "Audit",
};

const MOST = 12;
const TRACE_ID = /^[0-9a-f]{32}$/i;
const UUID = /^[0-9a-f]{8}-[0-9a-f-]{27}$/i;

/** An id that was pasted: the place it may name. */
const placesOfId = (project: string, text: string): readonly Choice[] => {
  if (text.startsWith("turn_")) return [{ label: text, note: "turn", place: { kind: "turn", project, id: text } }];
  if (TRACE_ID.test(text)) return [{ label: text, note: "trace", place: { kind: "trace", project, id: text } }];
  if (UUID.test(text) || text.startsWith("call_"))
    return [{ label: text, note: "call", place: { kind: "call", project, id: text } }];
  return [];
};

/** Lower is better; undefined does not fit. Every letter has to be there, in order. */
export const scoreOf = (label: string, wanted: string): number | undefined => {
  const [text, sought] = [label.toLowerCase(), wanted.toLowerCase()];
  const whole = text.indexOf(sought);
  if (whole !== -1) return whole;
  let at = -1;
  let gaps = 0;
  for (const letter of sought) {
    const next = text.indexOf(letter, at + 1);
    if (next === -1) return undefined;
    gaps += next - at - 1;
    at = next;
  }
  return 100 + gaps;
};

export interface Known {
  readonly project: string | undefined;
  readonly tools: readonly string[];
  readonly agents: readonly string[];
  readonly projects: readonly string[];
  readonly isAdmin: boolean;
}

export const listChoices = ({ project, tools, agents, projects, isAdmin }: Known): readonly Choice[] => [
  ...(project === undefined
    ? []
    : [
        ...PROJECT_PAGES.map(
          (page): Choice => ({ label: PAGE_NAMES[page], note: "page", place: { kind: "page", project, page } }),
        ),
        ...tools.map((id): Choice => ({ label: id, note: "tool", place: { kind: "tool", project, id } })),
        ...agents.map((id): Choice => ({ label: id, note: "agent", place: { kind: "agent", project, id } })),
      ]),
  { label: "Projects", note: "page", place: { kind: "projects" } },
  ...(isAdmin ? [{ label: "Tokens", note: "page", place: { kind: "tokens" } } as const] : []),
  ...projects.map((id): Choice => ({ label: id, note: "project", place: { kind: "page", project: id, page: "now" } })),
];

export const matchChoices = (
  choices: readonly Choice[],
  project: string | undefined,
  typed: string,
): readonly Choice[] => {
  const wanted = typed.trim();
  if (wanted === "") return choices.slice(0, MOST);
  const scored = choices.flatMap((choice) => {
    const score = scoreOf(choice.label, wanted);
    return score === undefined ? [] : [{ choice, score }];
  });
  const found = scored.toSorted((a, b) => a.score - b.score).map(({ choice }) => choice);
  return [...(project === undefined ? [] : placesOfId(project, wanted)), ...found].slice(0, MOST);
};
