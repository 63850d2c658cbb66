// A name somebody sent, as it can stand in a sentence of ours: whatever it is, the reader sees what was asked for, and
// neither its length nor a control character does any harm.

import { isToken } from "../subjects/token.ts";

/** Longer than any name of ours; more of it helps nobody. */
const MAX_SHOWN = 128;

/** As it is when it could be a name, else quoted and escaped; cut when it is long. */
export const showName = (name: string): string => {
  if (name.length <= MAX_SHOWN && isToken(name)) return name;
  const cut = name.length > MAX_SHOWN ? `${name.slice(0, MAX_SHOWN)}…` : name;
  return JSON.stringify(cut.toWellFormed());
};
