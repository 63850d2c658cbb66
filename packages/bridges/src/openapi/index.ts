// The import of OpenAPI documents without the executors: what a thread that imports loads.

export { type ImportOptions, type ImportOutcome, importDocument } from "./import-document.ts";
