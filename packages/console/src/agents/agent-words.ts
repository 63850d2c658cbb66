// Which agents have to be asked for, and what an agent is called. Pure.

/** An id that a person chose says something; one that was made for a task is told by its end. */
const ID_CHARS = 20;
const MADE = /^[0-9a-f-]{32,}/u;
/** As many as fit a screen; the others are asked for when these are known. */
const MOST_AT_ONCE = 30;

/** Calls that no agent made stand under names of the plane. */
export const isAgent = (agentId: string): boolean => agentId !== "" && !agentId.startsWith("sys.");

export const planNames = (ids: readonly string[], names: ReadonlyMap<string, string>): readonly string[] =>
  [...new Set(ids)].filter((id) => isAgent(id) && !names.has(id)).slice(0, MOST_AT_ONCE);

/** Calls that came from outside of any agent, and say with which key. */
const callerWords = (actor: string): string => {
  if (actor === "sys.api") return "the API";
  return actor.startsWith("sys.token_") ? "a token" : actor;
};

const idWords = (agentId: string): string =>
  MADE.test(agentId) ? `agent ${agentId.slice(-4)}` : agentId.slice(0, ID_CHARS);

export const agentWords = (agentId: string, names: ReadonlyMap<string, string>): string =>
  names.get(agentId) || (isAgent(agentId) ? idWords(agentId) : callerWords(agentId));
