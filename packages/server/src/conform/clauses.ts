// What a tool service is held to, clause by clause: the published table of the conformance kit. An id never changes its
// meaning; a clause that is given up leaves a gap.
//
// `section` says where the rule is written: "guide n" is the tool development guide, "UTP n" the tool protocol page,
// "HTTP" this project's own API for services that pull their work, whatever carries it, "NATS" the same over NATS. `utp` names the
// clauses of utp.md that a service breaks with the rule: those about identity, result cards, malformed commands and channels.

export interface ClauseEntry {
  readonly id: `UTP-C${string}`;
  readonly title: string;
  readonly section: string;
  readonly utp?: string;
}

export const CLAUSES = [
  // the connection
  { id: "UTP-C01", title: "The token travels as a bearer token", section: "HTTP" },
  { id: "UTP-C02", title: "Nothing is written but results", section: "guide 1" },
  { id: "UTP-C03", title: "Registered definitions keep the rules for external tools", section: "guide 3.2" },
  { id: "UTP-C04", title: "Everything that is claimed is run or given back", section: "HTTP" },
  { id: "UTP-C05", title: "A claim that fails does not end the service", section: "HTTP" },
  // the command
  { id: "UTP-C06", title: "Arguments come from the tool.call card", section: "guide 1" },
  { id: "UTP-C07", title: "Inline args, arguments and result are refused", section: "UTP 4.1", utp: "8.3.3, D-05" },
  { id: "UTP-C08", title: "Identity in the payload is refused", section: "guide 1", utp: "2.3, 8.3.2" },
  { id: "UTP-C09", title: "The result goes to the call of CG-Tool-Call-Id", section: "UTP 4.3", utp: "2.3, 6.5" },
  {
    id: "UTP-C10",
    title: "A command without CG-Tool-Call-Id is not run and does no harm",
    section: "guide 2",
    utp: "8.3.3",
  },
  { id: "UTP-C11", title: "A command without tool_call_card_id is refused", section: "UTP 4.1", utp: "8.3.3, D-07" },
  { id: "UTP-C12", title: "Unknown payload fields are ignored", section: "UTP 4.3" },
  { id: "UTP-C13", title: "A payload that is not an object does no harm", section: "guide 2", utp: "2.3, 8.3.3" },
  // the card
  { id: "UTP-C14", title: "A missing card is a failed result", section: "guide 2", utp: "8.4" },
  { id: "UTP-C15", title: "A card that is not a tool.call is a failed result", section: "guide 1", utp: "8.4" },
  { id: "UTP-C16", title: "A card of another call is a failed result", section: "UTP 3.2", utp: "8.4" },
  { id: "UTP-C17", title: "Content that is not a ToolCallContent is a failed result", section: "guide 1", utp: "8.4" },
  // the result
  { id: "UTP-C18", title: "after_execution comes back unchanged", section: "guide 1" },
  { id: "UTP-C19", title: "An override is written into result.__cg_control only", section: "UTP 3.1" },
  { id: "UTP-C20", title: "The status is one of the five words", section: "UTP 4.2" },
  { id: "UTP-C21", title: "A failed result has an error with code and message", section: "UTP 5" },
  { id: "UTP-C22", title: "The result has a child span of the command's trace", section: "guide 1", utp: "2.5, 6.5" },
  { id: "UTP-C23", title: "The result names the lease it was made under", section: "guide 1", utp: "6.5" },
  { id: "UTP-C24", title: "The result card is written before it is reported", section: "UTP 4.2" },
  { id: "UTP-C25", title: "The result card holds ToolResultContent", section: "guide 1" },
  { id: "UTP-C26", title: "Lineage is copied from the tool.call card as it is", section: "guide 1" },
  { id: "UTP-C27", title: "The author of the result card is the tool's actor", section: "guide 1" },
  { id: "UTP-C28", title: "function_name is the tool's name", section: "guide 1" },
  { id: "UTP-C29", title: "The callback carries no result and no identity", section: "UTP 4.2" },
  // again, and too late
  { id: "UTP-C30", title: "A command that comes again brings no second result", section: "UTP 3.2", utp: "4.4" },
  { id: "UTP-C31", title: "A command that comes twice at once has one result", section: "UTP 3.2", utp: "4.4" },
  { id: "UTP-C32", title: "A result that is refused as late is given up", section: "UTP 3.2", utp: "4.4" },
  { id: "UTP-C33", title: "A lease that is lost ends the work on the call", section: "HTTP" },
  { id: "UTP-C34", title: "A canceled call brings no result", section: "HTTP" },
  { id: "UTP-C35", title: "A server that fails for a moment loses no result", section: "HTTP" },
  // over NATS only
  { id: "UTP-C36", title: "Every command is acknowledged in the end", section: "NATS" },
  { id: "UTP-C37", title: "No command is acknowledged before its lease was asked for", section: "NATS" },
  { id: "UTP-C38", title: "A call that another service holds is left alone", section: "NATS", utp: "4.4" },
  { id: "UTP-C39", title: "A call that is not due yet is asked for again", section: "NATS" },
  { id: "UTP-C40", title: "Only the subjects of its own project and actor are used", section: "NATS" },
  { id: "UTP-C41", title: "A command of another project is left to others", section: "NATS" },
  { id: "UTP-C42", title: "Questions about a call carry its headers", section: "NATS", utp: "2.2, 6.2" },
  { id: "UTP-C43", title: "A lease is renewed while its call runs", section: "NATS" },
  {
    id: "UTP-C44",
    title: "A command whose headers contradict its subject is not run",
    section: "NATS",
    utp: "2.3, 6.4",
  },
  // what a message says about its call
  {
    id: "UTP-C45",
    title: "A command without tool_name or a valid after_execution is refused",
    section: "UTP 4.1",
    utp: "8.3.3",
  },
  {
    id: "UTP-C46",
    title: "A command whose epoch, depth or trace cannot be read is not run",
    section: "guide 2",
    utp: "2.3.2, 2.3.5, 8.3.2",
  },
  {
    id: "UTP-C47",
    title: "What is said about a call in headers is what its command said",
    section: "guide 1",
    utp: "2.3, 2.7, 6.2, 6.5",
  },
  {
    id: "UTP-C48",
    title: "A result card that is there already is reported instead of another",
    section: "guide 2",
    utp: "4.4",
  },
  { id: "UTP-C49", title: "A call of another channel is run, and reported in it", section: "guide 1", utp: "6.4" },
] as const satisfies readonly ClauseEntry[];

export type Clause = (typeof CLAUSES)[number];
export type ClauseId = Clause["id"];

/** What carries commands and results between the plane and a service. */
export type Transport = "http" | "nats";

/** Over NATS the server knows a service by its user, so no token is sent. */
const TOKEN_CLAUSE: ClauseId = "UTP-C01";

/** The clauses that apply to a service over this transport. */
export const clausesOver = (transport: Transport): readonly Clause[] =>
  CLAUSES.filter(({ id, section }) => (transport === "nats" ? id !== TOKEN_CLAUSE : section !== "NATS"));
