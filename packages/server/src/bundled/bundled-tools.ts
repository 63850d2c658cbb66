// The tools that come with the server, and the definitions a new project gets of them.

import type { JsonObject } from "@toolplane/protocol";
import { toolSubjectTemplate } from "@toolplane/protocol/registry";
import type { Tool } from "@toolplane/sdk";
import { createContextMerge } from "./context-merge.ts";
import { echo } from "./echo.ts";
import { fail } from "./fail.ts";
import { httpGetDefinition } from "./http-get.ts";
import { sleep } from "./sleep.ts";
import { wordCount } from "./word-count.ts";

/** The target their calls go to; the engine's registry uses the same for what the protocol seeds. */
export const BUNDLED_TARGET = "bundled";

export const BUNDLED_TOOLS: readonly Tool[] = [echo, wordCount, sleep, fail];

/** Uploads, valid in any project: the subject is a template. */
export const bundledDefinitions = (): readonly JsonObject[] => [
  ...[...BUNDLED_TOOLS, createContextMerge()].map((tool) => ({
    tool_name: tool.name,
    description: tool.description,
    parameters: tool.parameters,
    target_subject: toolSubjectTemplate(BUNDLED_TARGET, tool.name),
    after_execution: tool.afterExecution,
    options: tool.options as JsonObject,
  })),
  httpGetDefinition(),
];
