// @toolplane/protocol/reference: documentation written from the tables.

export { errorReferenceMarkdown } from "./errors/error-reference.ts";
