// The bus contract on a real nats-server.

import { busContract } from "@toolplane/testkit";
import { openNatsHarness } from "./nats-harness.ts";

busContract("nats [ARCH-6-1]", openNatsHarness);
