// The postgres bus keeps the bus contract.

import { busContract } from "@toolplane/testkit";
import { openPostgresHarness } from "./postgres-harness.ts";

busContract("postgres", openPostgresHarness);
