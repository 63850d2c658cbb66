// A subscription pattern as the database understands it: what an index can find (component, target) and an anchored
// regular expression for the rest. Tokens have no character that means anything in one, so nothing needs escaping, and
// `[^.]+` between literal separators leaves the matcher no choice to go back on.

import type { SubjectPattern } from "@toolplane/protocol";

export interface SubjectFilter {
  /** The component every match has, or undefined when the pattern leaves it open. */
  readonly component: string | undefined;
  readonly target: string | undefined;
  readonly regex: string;
}

const COMPONENT_TOKEN = 5;
const TARGET_TOKEN = 6;

const concrete = (token: string | undefined): string | undefined =>
  token === "*" || token === ">" ? undefined : token;

const regexOf = (token: string): string => (token === "*" ? "[^.]+" : token === ">" ? ".+" : token);

export const planSubjectFilter = ({ tokens }: SubjectPattern): SubjectFilter => ({
  component: concrete(tokens[COMPONENT_TOKEN]),
  target: concrete(tokens[TARGET_TOKEN]),
  regex: `^${tokens.map(regexOf).join("[.]")}$`,
});
