// Which database this is: the same for everybody who uses it, also after a failover, and another for every other one. Not
// prepared: it is asked once.

export const READ_PLANE_ID = `
select system_identifier::text || '-' || (select oid from pg_database where datname = current_database()) as id
  from pg_control_system()`;
