// Which processes use this database, from the names of their connections. Not prepared: people ask it, rarely.

export const READ_NAMES = `
select distinct application_name as name from pg_stat_activity
 where datname = current_database() and application_name like 'toolplane runs %'`;
