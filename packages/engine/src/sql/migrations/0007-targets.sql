-- Whom commands go to is asked every few seconds by every process beside an external bus: from one target to the next,
-- however many tools there are.
create index tools_targets on resource.tools (target) where status <> 'deleted' and not internal;
