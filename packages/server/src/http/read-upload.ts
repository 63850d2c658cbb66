// A definition as people upload it: JSON, YAML (application/yaml, text/yaml), or a multipart form with a field `file`.
// YAML is read as configuration is: without tags, with few aliases and a bounded size. It is read in a thread whatever its
// size: a kilobyte of nested keys (`? ? ? ...`) takes the library two minutes.

import type { Threads } from "@toolplane/engine";
import { isToolplaneError, refuseUnstorable, ToolplaneError } from "@toolplane/protocol";
import { type BodyReading, parseBody, readBody } from "./read-body.ts";

const MAX_UPLOAD_BYTES = 1024 * 1024;

const YAML_WORK = new URL(`../config/yaml-work.${import.meta.url.endsWith(".ts") ? "ts" : "js"}`, import.meta.url);

export type ReadYaml = (text: string) => Promise<unknown>;

export const readYamlIn =
  (threads: Threads, tenant: string): ReadYaml =>
  (text) =>
    threads.run({ tenant, what: "reading the YAML", module: YAML_WORK, input: text });

const parseYaml = async (text: string, readYaml: ReadYaml): Promise<unknown> => {
  try {
    const value = await readYaml(text);
    refuseUnstorable(value, "a value");
    return value;
  } catch (error) {
    if (!isToolplaneError(error) || error.code !== "bad_request") throw error;
    throw new ToolplaneError("bad_request", `the YAML cannot be read: ${error.message}`);
  }
};

const readFile = async (request: Request, type: string): Promise<string> => {
  // The size is checked on the raw bytes first; only then is the form taken apart.
  const text = await readBody(request, MAX_UPLOAD_BYTES);
  const form = await new Response(text, { headers: { "content-type": type } }).formData().catch((cause: unknown) => {
    throw new ToolplaneError("bad_request", "the multipart form cannot be read", { cause });
  });
  const file = form.get("file");
  if (file === null) throw new ToolplaneError("bad_request", "the form needs a field named file");
  return typeof file === "string" ? file : file.text();
};

/** `reading` is about JSON: of YAML nothing is dropped here. */
export const readUpload = async (request: Request, readYaml: ReadYaml, reading: BodyReading = {}): Promise<unknown> => {
  const type = request.headers.get("content-type") ?? "application/json";
  const kind = type.split(";")[0]?.trim().toLowerCase();
  switch (kind) {
    case "application/json":
      return parseBody(await readBody(request, MAX_UPLOAD_BYTES), reading);
    case "application/yaml":
    case "text/yaml":
    case "application/x-yaml":
      return parseYaml(await readBody(request, MAX_UPLOAD_BYTES), readYaml);
    case "multipart/form-data":
      return parseYaml(await readFile(request, type), readYaml);
    default:
      throw new ToolplaneError(
        "bad_request",
        "send a definition as application/json, application/yaml, text/yaml or multipart/form-data",
      );
  }
};
