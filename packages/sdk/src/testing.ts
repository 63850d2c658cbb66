// `@toolplane/sdk/testing`: runs a tool in a test, without a plane.

export { type RunToolOptions, runTool } from "./testing/run-tool.ts";
