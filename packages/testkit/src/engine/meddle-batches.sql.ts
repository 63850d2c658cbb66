// Batches whose time passes, whose children wait or are forgotten, and tools as older versions registered them.

const PAST = "now() - interval '1 second'";

export const MEDDLE_BATCHES = {
  /** $1 batch. */
  passBatchDeadline: `update state.batches set deadline_at = ${PAST} where batch_id = $1`,
  /** $1 batch. */
  retryTasksNow: `update state.batch_tasks set next_attempt_at = ${PAST} where batch_id = $1 and status = 'pending'`,
  /** Children have waited for more than a minute. $1 batch. */
  ageChildren: `update state.turns set created_at = now() - interval '61 seconds' where correlation_id like $1 || '%'`,
  /** $1 batch. */
  forgetChildren: "delete from state.turns where correlation_id like $1 || '%'",
  /** fork_join as it was registered before projects had limits. The text's hash is computed as the registry does. */
  forgetMostTasks: `
with old as (
  select project_id, version, replace(definition, '"maxItems":8,', '') as definition
    from resource.tool_versions where tool_name = 'fork_join'
),
hashed as (select *, encode(sha256(convert_to(definition, 'UTF8')), 'hex') as hash from old),
versions as (
  update resource.tool_versions v set definition = h.definition, definition_hash = h.hash
    from hashed h where v.tool_name = 'fork_join' and v.project_id = h.project_id and v.version = h.version
)
update resource.tools t set definition_hash = h.hash
  from hashed h where t.tool_name = 'fork_join' and t.project_id = h.project_id and t.version = h.version`,
  /** Another text than the one that was hashed. $1 tool, $2 and $3 what is replaced by what. */
  forgeDefinition: "update resource.tool_versions set definition = replace(definition, $2, $3) where tool_name = $1",
  /** A definition that passes as the registry's own. $1 tool, $2 text, $3 hash. */
  putDefinition: `
with versions as (update resource.tool_versions set definition = $2::text, definition_hash = $3::text where tool_name = $1::text)
update resource.tools set definition_hash = $3::text where tool_name = $1::text`,
} as const;
