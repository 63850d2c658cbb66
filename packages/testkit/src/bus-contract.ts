// The contract every bus adapter must pass, sentence by sentence (B1-B16 of the port). Call it in the adapter's test file
// with a way to open a server for it; rules that only one kind of server has (open transactions, reconnects) are that
// adapter's own tests.

import { UsageError } from "@toolplane/protocol";
import { afterAll, beforeAll, describe } from "vitest";
import type { BusHarness, CarrierHarness, LogHarness } from "./bus/bus-harness.ts";
import { commandsContract } from "./bus/commands.contract.ts";
import { eventsContract } from "./bus/events.contract.ts";
import { logContract } from "./bus/log.contract.ts";
import { publishingContract } from "./bus/publishing.contract.ts";
import { settlementContract } from "./bus/settlement.contract.ts";
import { shutdownContract } from "./bus/shutdown.contract.ts";
import { streamsContract } from "./bus/streams.contract.ts";

type Part<Harness> = (harness: () => Harness) => void;

const contract =
  <Harness extends Pick<BusHarness, "close">>(parts: readonly Part<Harness>[]) =>
  (name: string, open: () => Promise<Harness>): void => {
    // Each test has a project of its own and mostly waits, so they wait together.
    describe(`bus contract: ${name}`, { concurrent: true }, () => {
      let opened: Harness | undefined;
      beforeAll(async () => {
        opened = await open();
      });
      afterAll(async () => {
        await opened?.close();
      });
      const harness = (): Harness => {
        if (opened === undefined) throw new UsageError("the harness opens before the tests");
        return opened;
      };
      for (const part of parts) part(harness);
    });
  };

/** For a bus that is a log of events, and streams. */
export const logBusContract = contract<LogHarness>([logContract, streamsContract]);

/** For a bus beside the database. */
export const carrierBusContract = contract<CarrierHarness>([
  publishingContract,
  commandsContract,
  eventsContract,
  settlementContract,
  shutdownContract,
  streamsContract,
]);
