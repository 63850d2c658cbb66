// The tools a service registers, judged by the rules of the real registry.

import { createSchemaCompiler, sha256 } from "@toolplane/engine";
import {
  definitionHash,
  isRecord,
  isToolplaneError,
  PROTOCOL_VERSION,
  type ToolDefinition,
  type ToolplaneError,
  violation,
} from "@toolplane/protocol";
import { parseToolDefinition } from "@toolplane/protocol/registry";
import { parseYamlFile } from "../../config/yaml-file.ts";
import { readUpload } from "../../http/read-upload.ts";
import type { Registration } from "../evidence.ts";
import { noSuch, problemResponse } from "./refuse.ts";

export interface ToolShelf {
  register(request: Request): Promise<Response>;
  show(toolName: string): Response;
  list(): Response;
  /** In the order they were registered. */
  tools(): readonly ToolDefinition[];
}

const UNKNOWN_NAME = "a definition that cannot be read";

const nameIn = (upload: unknown): string =>
  isRecord(upload) && typeof upload.tool_name === "string" ? upload.tool_name : UNKNOWN_NAME;

/** The service under test is our user's own. */
const readHere = async (text: string): Promise<unknown> => parseYamlFile(text, "upload").value;

const asProblem = (error: unknown): ToolplaneError =>
  isToolplaneError(error) ? error : violation("the definition cannot be read");

export const createToolShelf = (projectId: string, onRegistration: (seen: Registration) => void): ToolShelf => {
  const compileSchema = createSchemaCompiler();
  const shelf = new Map<string, ToolDefinition>();

  const shown = (tool: ToolDefinition) => ({
    project_id: projectId,
    ...tool,
    version: 1,
    definition_hash: definitionHash(tool, sha256),
    status: "active",
  });

  return {
    async register(request) {
      let upload: unknown;
      try {
        upload = await readUpload(request, readHere);
        const tool = parseToolDefinition(upload, { projectId, version: PROTOCOL_VERSION, compileSchema });
        const isNew = !shelf.has(tool.tool_name);
        shelf.set(tool.tool_name, tool);
        onRegistration({ toolName: tool.tool_name, fault: undefined });
        return Response.json(shown(tool), { status: isNew ? 201 : 200 });
      } catch (error) {
        const problem = asProblem(error);
        onRegistration({ toolName: nameIn(upload), fault: problem.message });
        return problemResponse(problem);
      }
    },
    show(toolName) {
      const tool = shelf.get(toolName);
      return tool === undefined ? noSuch(`tool ${toolName}`) : Response.json(shown(tool));
    },
    list: () => Response.json({ items: [...shelf.values()].map(shown), next_cursor: null }),
    tools: () => [...shelf.values()],
  };
};
