// The bus on PostgreSQL keeps the bus contract: a log of events, and streams.

import { logBusContract } from "@toolplane/testkit";
import { openPostgresHarness } from "./postgres-harness.ts";

logBusContract("postgres", openPostgresHarness);
