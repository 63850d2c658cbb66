// APIs as tools: the executor of HTTP operations and the import of OpenAPI documents.

import type { Rule } from "./rule.ts";

export const rules = [
  { id: "HTTP-1-1", source: "issue 17", part: "bridges", text: "An executor runs the definition that the call was made with, also after the tool was changed or deleted." },
  { id: "HTTP-1-2", source: "issue 17", part: "bridges", text: "A credential is read where the tool runs, sent as its scheme says, and removed from what the API says." },
  { id: "HTTP-1-3", source: "issue 17", part: "sdk", text: "A definition is read once, kept by its hash, and used only when it has the hash that the call's card names." },
] as const satisfies readonly Rule[];
