-- The PostgreSQL bus is a log of events: work is claimed as rows where it stands, and readers keep their own positions. Nothing has
-- read or written these two tables since.
drop table bus.deliveries;
drop table bus.durables;
