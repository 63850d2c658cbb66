// The bus contract on a real nats-server.

import { carrierBusContract } from "@toolplane/testkit";
import { openNatsHarness } from "./nats-harness.ts";

carrierBusContract("nats [ARCH-6-1]", openNatsHarness);
