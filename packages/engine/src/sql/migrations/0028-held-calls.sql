-- Limited calls of services that never lease: where they wait until their commands are sent.
create index live_calls_held on state.live_calls (project_id, target) where plain and gate is not null and status = 'queued';

-- Until now limits of such tools were not kept. Definitions from before limits were checked may have some.
update resource.tools t
   set limits = nullif(jsonb_strip_nulls(jsonb_build_object('concurrency', v.definition::jsonb #> '{options,concurrency}',
                                                            'rate', v.definition::jsonb #> '{options,rate}',
                                                            'breaker', v.definition::jsonb #> '{options,breaker}')), '{}')
  from resource.tool_versions v
 where t.plain and v.project_id = t.project_id and v.tool_name = t.tool_name and v.version = t.version
   and (v.definition like '%"concurrency":%' or v.definition like '%"rate":%') and position('\u0000' in v.definition) = 0;
