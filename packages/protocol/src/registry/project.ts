// Projects: the boundary of everything else. A project id is a subject token and never changes.

import { z } from "zod";
import { parseWith } from "../errors/parse-with.ts";
import { ToolplaneError } from "../errors/toolplane-error.ts";
import { copyUpload } from "../tools/upload.ts";
import { displayText, REGISTRY_CAPS, subjectToken, timestamp } from "./field-shapes.ts";
import { projectLimitsSchema } from "./project-limits.ts";

export const PROJECT_STATUSES = ["active", "inactive", "archived"] as const;
export type ProjectStatus = (typeof PROJECT_STATUSES)[number];

export const projectSchema = z
  .strictObject({
    project_id: subjectToken,
    title: displayText,
    status: z.enum(PROJECT_STATUSES),
    owner_id: displayText,
    created_at: timestamp,
    updated_at: timestamp,
  })
  .readonly();

export type Project = z.infer<typeof projectSchema>;

/** Without an owner the caller is the owner; without an id one is made. */
const projectCreateSchema = z
  .strictObject({
    project_id: subjectToken.optional(),
    title: displayText,
    owner_id: displayText.optional(),
    bootstrap: z.boolean().default(true),
  })
  .readonly();

export type ProjectCreate = z.infer<typeof projectCreateSchema>;

const projectPatchSchema = z
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

export interface ProjectOrigin {
  /** Used when the request names none. */
  readonly projectId: string;
  readonly callerId: string;
  readonly now: string;
}

export const planProjectCreate = (request: ProjectCreate, origin: ProjectOrigin, existing?: Project): Project => {
  const projectId = request.project_id ?? origin.projectId;
  if (existing !== undefined) throw new ToolplaneError("conflict", `project ${projectId} exists`);
  return {
    project_id: projectId,
    title: request.title,
    status: "active",
    owner_id: request.owner_id ?? origin.callerId,
    created_at: origin.now,
    updated_at: origin.now,
  };
};

/** The project after a patch. `updated_at` moves with every change and only then (W-30). */
export const planProjectPatch = (project: Project, patch: ProjectPatch, now: string): Project => {
  const title = patch.title ?? project.title;
  const status = patch.status ?? project.status;
  if (title === project.title && status === project.status) return project;
  return { ...project, title, status, updated_at: now };
};

/** New work enters only an active project; what is running in another one is let finish. */
export const acceptsWork = (project: Pick<Project, "status">): boolean => project.status === "active";
