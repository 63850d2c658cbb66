// The rules that `toolplane host check` holds a tool host to, as a published table. An id never changes its meaning; a rule that
// is dropped leaves a gap. `section` names the part of the tool host protocol; `utp` names the clauses of the tool protocol that the
// plane keeps only if the host keeps the rule.

export interface HostClauseEntry {
  readonly id: `HOST-C${string}`;
  readonly title: string;
  readonly section: "wire" | "methods" | "host side" | "extensions";
  readonly utp?: string;
}

export const HOST_CLAUSES = [
  // the lines
  { id: "HOST-C01", title: "stdout has nothing but answers and events, one JSON object per line", section: "wire" },
  { id: "HOST-C02", title: "Every line carries v: 1", section: "wire" },
  {
    id: "HOST-C03",
    title: "A request is answered once, and only requests are answered",
    section: "wire",
    utp: "4.4, 6.5",
  },
  { id: "HOST-C04", title: "Ids come back as they were sent, whatever text they are", section: "wire" },
  {
    id: "HOST-C05",
    title: "Events name a running request and come before its answer",
    section: "wire",
    utp: "4.4, 6.5",
  },
  { id: "HOST-C06", title: "A line may end in a carriage return", section: "wire" },
  { id: "HOST-C07", title: "A line that comes in pieces is one line", section: "wire" },
  { id: "HOST-C08", title: "Requests that come at once are all answered", section: "wire" },
  { id: "HOST-C09", title: "A line of a megabyte is answered", section: "wire" },
  // the methods
  { id: "HOST-C10", title: "init answers with a state", section: "methods" },
  { id: "HOST-C11", title: "get_tool_schemas answers with a list of tools", section: "methods" },
  { id: "HOST-C12", title: "execute_tool answers with success and a result, or an error", section: "methods" },
  { id: "HOST-C13", title: "A request with a state gets a state back", section: "methods" },
  { id: "HOST-C14", title: "A tool that is not there does not succeed", section: "methods", utp: "8.4" },
  { id: "HOST-C15", title: "Optional methods answer in their shape, or say they are not there", section: "methods" },
  // what is wrong
  { id: "HOST-C16", title: "An unknown method is MethodNotFound", section: "host side" },
  { id: "HOST-C17", title: "A line that is not JSON is ParseError with id null", section: "host side" },
  { id: "HOST-C18", title: "Another v is VersionError", section: "host side" },
  { id: "HOST-C19", title: "Missing fields are InvalidParams", section: "host side", utp: "8.3.3" },
  { id: "HOST-C20", title: "A failure has a type and a detail, both texts", section: "host side" },
  { id: "HOST-C21", title: "No line ends the host", section: "host side" },
  // the end
  { id: "HOST-C22", title: "At the end of stdin the host exits with code 0", section: "host side" },
  { id: "HOST-C23", title: "At the end of stdin what runs is still answered", section: "host side" },
  // what is agreed on
  {
    id: "HOST-C24",
    title: "hello is answered with some of the extensions asked for, or an error",
    section: "extensions",
  },
  { id: "HOST-C25", title: "ping is answered, also while a call runs", section: "extensions" },
  {
    id: "HOST-C26",
    title: "cancel is answered, and the request it names too, as Canceled if it was stopped",
    section: "extensions",
  },
  { id: "HOST-C27", title: "shutdown finishes what runs and exits with code 0", section: "extensions" },
  { id: "HOST-C28", title: "execute_tool takes a deadline_ms", section: "extensions" },
  {
    id: "HOST-C29",
    title: "log events have a level and a message, and come only where they were agreed on",
    section: "extensions",
  },
  // what the tool protocol asks for, as far as a host can break it
  { id: "HOST-C30", title: "Every request gets its own answer, not another's", section: "wire", utp: "2.3, 6.5" },
  { id: "HOST-C31", title: "A canceled request brings no second answer", section: "extensions", utp: "4.4" },
  {
    id: "HOST-C32",
    title: "Nothing runs from an execute_tool whose fields are missing or of the wrong kind",
    section: "host side",
    utp: "8.3.2, 8.3.3, 8.5",
  },
  {
    id: "HOST-C33",
    title: "What one session sent does not come back in another's answer",
    section: "methods",
    utp: "2.3, 17 D-26",
  },
] as const satisfies readonly HostClauseEntry[];

export type HostClauseId = (typeof HOST_CLAUSES)[number]["id"];
export type HostClause = HostClauseEntry & { readonly id: HostClauseId };
