// Who owns a data directory: an advisory lock in its database, held by one connection of the owner for as long as it lives. The
// name of that connection says who it is. Not prepared: each statement runs once per connection.

/** Next to the lock of the migrations (7420, 1). */
const KEY = "7420, 2";

export const TRY_LOCK = `select pg_try_advisory_lock(${KEY}) as locked, pg_backend_pid() as backend`;

export const SET_NAME = "select set_config('application_name', $1, false)";

export const READ_OWNER = `
select a.application_name as name, a.pid as backend
  from pg_locks l
  join pg_stat_activity a on a.pid = l.pid
 where l.locktype = 'advisory' and l.classid = 7420 and l.objid = 2 and l.objsubid = 2 and l.granted
   and l.database = (select oid from pg_database where datname = current_database())`;
