// Identifies the database: the same for all its users, also after a failover, and different for every other database. The moment
// of the first migration is part of it, because clusters that were copied from one another have the rest in common. Not prepared:
// asked once.

export const READ_PLANE_ID = `
select concat_ws('-', c.system_identifier, d.oid, (extract(epoch from m.made_at) * 1000000)::bigint) as id
  from pg_control_system() c, pg_database d, (select min(applied_at) as made_at from public.toolplane_migrations) m
 where d.datname = current_database()`;
