// A name that a client sent, in a form that can stand in our sentences: the reader sees what was asked for, and neither its
// length nor a control character does harm.

import { isToken } from "../subjects/token.ts";

/** Longer than any real name. */
const MAX_SHOWN = 128;

/** As it is when it could be a name, else quoted and escaped; cut when it is long. */
export const showName = (name: string): string => {
  if (name.length <= MAX_SHOWN && isToken(name)) return name;
  const cut = name.length > MAX_SHOWN ? `${name.slice(0, MAX_SHOWN)}…` : name;
  return JSON.stringify(cut.toWellFormed());
};
