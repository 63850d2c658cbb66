// Which processes use this database, from the names of their connections. The statement is not prepared, because it runs rarely: at a start, and when a person asks.

export const READ_NAMES = `
select distinct application_name as name from pg_stat_activity
 where datname = current_database() and application_name like 'toolplane runs %'`;
