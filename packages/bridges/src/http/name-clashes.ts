// Which names the caller's arguments may not bring into one place of a request (the query, the matrix parts of a path, a form).
// An object that is written member by member brings names that nobody declared. Servers do not agree on which of two pairs of one
// name counts, so a second pair can replace the first. Pure.
//   NC1. A name that a caller chose is never that of a parameter that the author manages, nor one that such a parameter brings.
//   NC2. A member is not named like another parameter of its place: it would pass that parameter's schema by.
//   NC3. Names are compared as `args.fixed` compares them, and as paths: `a[]` and `a[b]` are parts of `a`, as PHP, Rails and
//        others read them. The work grows with the length of the names, not with its square.

import { badRequest, foldName } from "@toolplane/protocol";

export interface NamedPart {
  readonly argument: string;
  readonly name: string;
  /** The names of the pairs that its value becomes. */
  readonly written: readonly string[];
  readonly isManaged: boolean;
  /** Its own name is the caller's choice too: the definition declares no parameters. */
  readonly isUndeclared: boolean;
}

/** The parts of names as a tree. */
interface Branch {
  readonly below: Map<string, Branch>;
  /** Whose names lead through here, and whose end here. */
  readonly through: Set<NamedPart>;
  readonly ends: Set<NamedPart>;
}

const createBranch = (): Branch => ({ below: new Map(), through: new Set(), ends: new Set() });

/** PHP ends a name at a zero, and reads a dot and a space as "_". */
const stepsOf = (name: string): readonly string[] =>
  name
    .split(/[[\]\0]+/u)
    .map((step) => foldName(step).replaceAll(/[. ]/gu, "_"))
    .filter((step) => step !== "");

const addName = (tree: Branch, name: string, part: NamedPart): void => {
  let branch = tree;
  for (const step of stepsOf(name)) {
    const next = branch.below.get(step) ?? createBranch();
    branch.below.set(step, next);
    next.through.add(part);
    branch = next;
  }
  branch.ends.add(part);
};

const hasOther = (parts: ReadonlySet<NamedPart>, part: NamedPart): boolean => parts.size > (parts.has(part) ? 1 : 0);

/** Whether the name is that of another part, or one of the two is inside the other. */
const isTaken = (tree: Branch, name: string, part: NamedPart): boolean => {
  let branch = tree;
  for (const step of stepsOf(name)) {
    const next = branch.below.get(step);
    if (next === undefined) return false;
    if (hasOther(next.ends, part)) return true;
    branch = next;
  }
  return hasOther(branch.through, part);
};

const MAX_SHOWN = 64;

const refuse = ({ argument }: NamedPart, name: string): Error =>
  badRequest(
    `the argument ${argument.slice(0, MAX_SHOWN)} would send ${JSON.stringify(name.slice(0, MAX_SHOWN))}, the name of another parameter of the request, or of a part of one: leave it out`,
  );

/** Checks the names of one place (query, header, form). Throws `bad_request` that names the argument and the name, never a value. */
export const checkNames = (parts: readonly NamedPart[], credential?: string): void => {
  const chosen = parts.filter(({ isManaged }) => !isManaged);
  const spreads = chosen.some(({ name, written }) => written.some((one) => one !== name));
  if (!spreads && !chosen.some(({ isUndeclared }) => isUndeclared)) return;

  const managed = createBranch();
  const all = createBranch();
  for (const part of parts) {
    addName(all, part.name, part);
    if (!part.isManaged) continue;
    for (const name of [part.name, ...part.written]) for (const tree of [managed, all]) addName(tree, name, part);
  }
  if (credential !== undefined) {
    const auth = { argument: "", name: credential, written: [], isManaged: true, isUndeclared: false };
    for (const tree of [managed, all]) addName(tree, credential, auth);
  }
  for (const part of chosen) {
    if (part.isUndeclared && isTaken(managed, part.name, part)) throw refuse(part, part.name);
    const clash = part.written.find((name) => name !== part.name && isTaken(all, name, part));
    if (clash !== undefined) throw refuse(part, clash);
  }
};
