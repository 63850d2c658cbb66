// Statements of projects.

import type { ProjectStatus, StoredLimits } from "@toolplane/protocol/registry";
import type { Statement } from "../sql/database.ts";

export interface ProjectRow {
  readonly project_id: string;
  readonly title: string;
  readonly status: ProjectStatus;
  readonly owner_id: string;
  readonly limits: StoredLimits;
  readonly created_at: Date;
  readonly updated_at: Date;
}

const COLUMNS = "project_id, title, status, owner_id, limits, created_at, updated_at";

/** $1 id, $2 title, $3 owner. No row when the id is taken. */
export const CREATE_PROJECT: Statement = {
  name: "projects.create",
  text: `
insert into resource.projects (project_id, title, owner_id) values ($1, $2, $3)
on conflict do nothing
returning ${COLUMNS}`,
};

export const READ_PROJECT: Statement = {
  name: "projects.read",
  text: `select ${COLUMNS} from resource.projects where project_id = $1`,
};

/** $1 after, $2 limit. */
export const LIST_PROJECTS: Statement = {
  name: "projects.list",
  text: `select ${COLUMNS} from resource.projects where project_id > $1 order by project_id limit $2::int`,
};

/** $1 id, $2 title or null, $3 status or null, $4 limits that change. updated_at moves with a change and only then. */
export const PATCH_PROJECT: Statement = {
  name: "projects.patch",
  text: `
update resource.projects
   set title = coalesce($2, title), status = coalesce($3, status), limits = jsonb_strip_nulls(limits || $4::jsonb),
       updated_at = case when (coalesce($2, title), coalesce($3, status), jsonb_strip_nulls(limits || $4::jsonb)) = (title, status, limits)
                         then updated_at else now() end
 where project_id = $1
returning ${COLUMNS}`,
};

/**
 * One change of a project's registry at a time: plans are made from what was read, so no other writer may come in between.
 * Weaker than FOR UPDATE, because rows that refer to the project may be added meanwhile.
 */
export const LOCK_PROJECT: Statement = {
  name: "projects.lock",
  text: "select project_id from resource.projects where project_id = $1 for no key update",
};

// Read once when a process starts; there is one such row for each project.
/** $1 tool, $2 the default. Projects whose definition of the tool does not say how many tasks it takes. */
export const LIST_UNLIMITED: Statement = {
  name: "projects.list-unlimited",
  text: `
select p.project_id
  from resource.projects p
 cross join lateral (
   select t.version from resource.tools t
    where t.project_id = p.project_id and t.tool_name = $1 and t.internal and t.status <> 'deleted' offset 0) t
 cross join lateral (
   select v.definition from resource.tool_versions v
    where v.project_id = p.project_id and v.tool_name = $1 and v.version = t.version offset 0) v
 where v.definition::jsonb #>> '{parameters,properties,tasks,maxItems}' is distinct from coalesce(p.limits ->> 'fork_join_tasks', $2)
 order by p.project_id`,
};
