// The contract every bus adapter must pass, sentence by sentence (B1-B16 of the port). Call it in the adapter's test file
// with a way to open a server for it; rules that only one kind of server has (open transactions, reconnects) are that
// adapter's own tests.

import { UsageError } from "@toolplane/protocol";
import { afterAll, beforeAll, describe } from "vitest";
import type { BusHarness, OpenBusHarness } from "./bus/bus-harness.ts";
import { commandsContract } from "./bus/commands.contract.ts";
import { eventsContract } from "./bus/events.contract.ts";
import { publishingContract } from "./bus/publishing.contract.ts";
import { settlementContract } from "./bus/settlement.contract.ts";
import { shutdownContract } from "./bus/shutdown.contract.ts";
import { streamsContract } from "./bus/streams.contract.ts";

export const busContract = (name: string, open: OpenBusHarness): void => {
  // Each test has a project of its own and mostly waits, so they wait together.
  describe(`bus contract: ${name}`, { concurrent: true }, () => {
    let opened: BusHarness | undefined;
    beforeAll(async () => {
      opened = await open();
    });
    afterAll(async () => {
      await opened?.close();
    });
    const harness = (): BusHarness => {
      if (opened === undefined) throw new UsageError("the harness opens before the tests");
      return opened;
    };
    publishingContract(harness);
    commandsContract(harness);
    eventsContract(harness);
    settlementContract(harness);
    shutdownContract(harness);
    streamsContract(harness);
  });
};
