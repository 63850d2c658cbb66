// What a tool service may ask of the plane, once for every door: the HTTP routes and the NATS gateway only carry the
// question here and the answer back. Claiming is not here: over NATS a command arrives by itself and is leased.
// The fences (leases, first result wins, insert-only cards) are the engine's.

import type { GatewayOperation } from "@toolplane/protocol";
import { exchange } from "./exchange.ts";
import { attach, getCard, heartbeat, lease, release } from "./lease-operations.ts";
import { parts, putCard, report, settle } from "./result-operations.ts";
import type { ServiceOperation } from "./service-request.ts";
import { getTool, register } from "./tool-operations.ts";

export const SERVICE_OPERATIONS = {
  attach,
  lease,
  get_card: getCard,
  heartbeat,
  release,
  settle,
  exchange,
  put_card: putCard,
  report,
  parts,
  get_tool: getTool,
  register,
} as const satisfies Record<GatewayOperation, ServiceOperation>;
