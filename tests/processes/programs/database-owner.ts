// A parent that runs a database on the given directory, commits a row and waits to be killed.

import { processGuard, startPostgres } from "@toolplane/processes";
import { queryTestDatabase } from "@toolplane/testkit";
import { say } from "./say.ts";

const dataDir = process.argv[2] ?? "";
const server = await startPostgres({ dataDir });
await queryTestDatabase(server.url(), "create table if not exists notes (text text)");
await queryTestDatabase(server.url(), "insert into notes values ('committed')");
say({ pid: server.pid, guard: processGuard().pid, url: server.url() });
setInterval(() => undefined, 1_000_000);
