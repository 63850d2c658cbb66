// Many services tried over NATS at the same time, each in an account of its own: most of a run is waiting.

import { ToolplaneError } from "@toolplane/protocol";
import type { NamedService } from "@toolplane/testkit";
import { type ConformReport, launchPlain, reportOn } from "./conform-run.ts";
import { startNatsAccounts } from "./nats-accounts.ts";

export interface TriedService {
  readonly code: number;
  readonly report: ConformReport;
}

const AT_ONCE = 16;
/** The services renew after a quarter of it. */
const LEASE_MS = 500;

/** Resolves to the outcome of each. */
export const tryOverNats = async (
  services: readonly NamedService[],
): Promise<(service: NamedService | undefined) => TriedService> => {
  const outcomes = new Map<NamedService, TriedService>();
  const queue = [...services];
  await using nats = await startNatsAccounts(queue.length);
  const work = async (): Promise<void> => {
    for (let service = queue.shift(); service !== undefined; service = queue.shift()) {
      const where = { http: false, natsUrl: nats.next(), leaseMs: LEASE_MS };
      outcomes.set(service, await reportOn({ ...launchPlain(service), ...where }));
    }
  };
  await Promise.all(Array.from({ length: AT_ONCE }, work));
  return (service) => {
    const outcome = service === undefined ? undefined : outcomes.get(service);
    if (outcome === undefined) throw new ToolplaneError("not_found", `${service?.name ?? "the service"} was not tried`);
    return outcome;
  };
};
