// Imports a small document as the server does, with files that a test gives.

import { createHash } from "node:crypto";
import { type JsonObject, type JsonValue, ToolplaneError } from "@toolplane/protocol";
import { type ImportOptions, type ImportOutcome, importDocument } from "../src/openapi/import-document.ts";

export const sha256 = (text: string): string => createHash("sha256").update(text).digest("hex");

export interface SampleOptions extends Partial<ImportOptions> {
  readonly files?: Readonly<Record<string, JsonValue>>;
  readonly whyRefused?: (address: string, hosts: readonly string[]) => string | undefined;
}

export const importSample = (document: JsonValue, options: SampleOptions = {}): ImportOutcome => {
  const { files = {}, whyRefused = () => undefined, ...rest } = options;
  return importDocument(
    "root.yaml",
    document,
    {
      name: "api",
      projectId: "demo",
      prefix: undefined,
      baseUrl: "https://api.example.com/v1",
      allowHosts: undefined,
      operations: undefined,
      auth: undefined,
      timeoutSeconds: undefined,
      documentUrl: undefined,
      ...rest,
    },
    {
      sha256,
      // As the registry does it: no look-around.
      isLinear: (pattern) => !pattern.includes("(?"),
      whyRefused,
      load: (path) => {
        const value = files[path];
        if (value === undefined) throw new ToolplaneError("bad_request", `the file ${path} is not there`);
        return { file: path, value };
      },
    },
  );
};

export const documentWith = (paths: JsonObject, more: JsonObject = {}): JsonObject => ({
  openapi: "3.0.3",
  info: { title: "t", version: "1" },
  paths,
  ...more,
});

/** The options of the only tool. */
export const onlyTool = (outcome: ImportOutcome) => {
  const [tool] = outcome.tools;
  if (tool === undefined || outcome.tools.length !== 1)
    throw new ToolplaneError("bad_request", JSON.stringify(outcome.refused));
  const { definition } = tool;
  return { definition, parameters: definition.parameters, openapi: definition.options.openapi ?? {} };
};
