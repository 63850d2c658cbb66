-- Calls of tools with `pin: strict` are given only to services that name the definition they were made under. They wait in an index
-- of their own, ordered per definition: a claim finds those of its definitions by lookup, and the queue of all other calls does not
-- hold them, so calls for a version that no service runs any more cost the other calls of the target nothing.
alter table state.live_calls add column pin text collate "C";

update state.live_calls c
   set pin = c.definition_hash
  from resource.tool_versions v
 where v.project_id = c.project_id and v.tool_name = c.tool_name and v.version = c.tool_version
   and v.definition::json -> 'options' ->> 'pin' = 'strict';

drop index state.live_calls_claimable;
create index live_calls_claimable on state.live_calls (project_id, target, session, available_at, tool_call_id)
 where status = 'queued' and (pin is null or session is not null);
create index live_calls_pinned on state.live_calls (project_id, target, pin, available_at, tool_call_id)
 where status = 'queued' and pin is not null and session is null;

-- The code that a version belongs to: the hash of the definition as its program sent it, before options that a person decided were
-- merged into it. A person who changes options makes a new version of the same code, and a service that runs the code may run the
-- pinned calls of both. A program that sends a version which the tool had before is recognised by it too.
alter table resource.tool_versions add column code_hash text collate "C";
update resource.tool_versions set code_hash = definition_hash;
alter table resource.tool_versions alter column code_hash set not null;
-- Whether the version was ever in force: only to such a version a person can go back. Of earlier versions it is not known.
alter table resource.tool_versions add column accepted boolean not null default false;
update resource.tool_versions v set accepted = true
  from resource.tools t where t.project_id = v.project_id and t.tool_name = v.tool_name and t.version = v.version;
create index tool_versions_of_hash on resource.tool_versions (project_id, definition_hash);
create index tool_versions_of_code on resource.tool_versions (project_id, code_hash);
