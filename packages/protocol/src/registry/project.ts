// Projects: the boundary of everything else. A project id is a subject token and never changes.

import { z } from "zod";
import { parseWith } from "../errors/parse-with.ts";
import { copyUpload } from "../tools/upload.ts";
import { displayText, REGISTRY_CAPS, subjectToken } from "./field-shapes.ts";
import { projectLimitsSchema } from "./project-limits.ts";

const PROJECT_STATUSES = ["active", "inactive", "archived"] as const;
export type ProjectStatus = (typeof PROJECT_STATUSES)[number];

/** Without an owner the caller is the owner; without an id one is made. */
export const projectCreateSchema = z
  .strictObject({
    project_id: subjectToken.optional(),
    title: displayText,
    owner_id: displayText.optional(),
    bootstrap: z.boolean().default(true),
  })
  .readonly();

export type ProjectCreate = z.infer<typeof projectCreateSchema>;

export const projectPatchSchema = z
  .strictObject({
    title: displayText.optional(),
    status: z.enum(PROJECT_STATUSES).optional(),
    limits: projectLimitsSchema.optional(),
  })
  .readonly();

export type ProjectPatch = z.infer<typeof projectPatchSchema>;

export const parseProjectCreate = (input: unknown): ProjectCreate =>
  parseWith(projectCreateSchema, copyUpload(input, "project", REGISTRY_CAPS), "project");

export const parseProjectPatch = (input: unknown): ProjectPatch =>
  parseWith(projectPatchSchema, copyUpload(input, "project", REGISTRY_CAPS), "project");
