// What a tool service may ask of the plane, once for HTTP and NATS: the routes and the NATS gateway only carry the request here
// and the answer back. Claiming is not here, because over NATS commands are fetched and leased. The engine keeps the rules
// (leases, first result wins, insert-only cards).

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
