// APIs as tools: the executor of HTTP operations and the import of OpenAPI documents.

import type { Rule } from "./rule.ts";

export const rules = [
  { id: "HTTP-1-1", source: "issue 17", part: "bridges", text: "An executor runs the definition that the call was made with, also after the tool was changed or deleted." },
  { id: "HTTP-1-2", source: "issue 17", part: "bridges", text: "A credential is read where the tool runs, sent as its scheme says, and removed from what the API says." },
  { id: "HTTP-1-3", source: "issue 17", part: "sdk", text: "A definition is read once, kept by its hash, and used only when it has the hash that the call's card names." },
  { id: "HTTP-2-1", source: "issue 17", part: "bridges", text: "Parameters in path, query, header and cookie are written by the styles of OpenAPI." },
  { id: "HTTP-2-2", source: "issue 17", part: "bridges", text: "Arguments cannot lead a request away from the base address: no path traversal, no other host, no added header or pair." },
  { id: "HTTP-2-3", source: "issue 17", part: "bridges", text: "Of an imported operation only declared parameters are sent, each in its place and under its own name." },
  { id: "HTTP-2-4", source: "issue 17", part: "bridges", text: "The value of a variable enters an address only where the definition says secrets_in_url; otherwise it is left out or refused." },
  { id: "HTTP-2-5", source: "issue 17", part: "bridges", text: "Bodies are JSON, a form, a multipart form with files, a text or bytes, as the operation says." },
  { id: "HTTP-2-6", source: "review", part: "bridges", text: "No name that an argument spreads into a request is that of a parameter that the author manages, of the credential, or of another parameter in the same place." },
  { id: "HTTP-3-1", source: "issue 17", part: "bridges", text: "Names of tools depend on the operation alone; where two operations would share one, both are named after their paths and it is said." },
  { id: "HTTP-3-2", source: "issue 17", part: "bridges", text: "References inside the document and into files are followed, cycles included; a definition holds only the schemas that its operation needs." },
  { id: "HTTP-3-3", source: "issue 17", part: "bridges", text: "A hostile document costs bounded work: the hostile operation is named with its reason, or the document is refused." },
  { id: "HTTP-4-1", source: "issue 17", part: "engine", text: "Of a document that was fetched from an address nothing is in force until a person accepts it, neither a new tool nor a change." },
  { id: "HTTP-4-2", source: "issue 17", part: "server", text: "A start with an unchanged document registers nothing." },
  { id: "HTTP-4-3", source: "issue 17", part: "server", text: "What cannot be imported is named with its reason, and the rest works." },
  { id: "HTTP-4-4", source: "issue 17", part: "server", text: "A changed document makes a new version; an operation that went away is named at every start and its tool stays; an operation that the patterns leave out is deleted." },
  { id: "HTTP-5-1", source: "issue 17", part: "server", text: "Documents of different style work from the configuration to the API and back." },
  { id: "HTTP-6-1", source: "issue 17", part: "bridges", text: "A broken, endless, oversized or unreadable answer settles the call with a code of its own, and the request is ended." },
  { id: "API-3-O1", source: "interfaces 3", part: "server", text: "An entry of openapi is checked when the configuration is read; what is wrong is said with its line." },
] as const satisfies readonly Rule[];
