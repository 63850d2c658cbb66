// Which agents have to be asked for, and what an agent is called. Pure.

/** Ids that no name is known for are cut: their beginning is enough to tell them apart on one page. */
const ID_CHARS = 20;
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

export const agentWords = (agentId: string, names: ReadonlyMap<string, string>): string =>
  names.get(agentId) || (isAgent(agentId) ? agentId.slice(0, ID_CHARS) : callerWords(agentId));
