// The holder of a token, as the operations of a tool service see it.

import type { ServiceCaller } from "../gateway/service-request.ts";
import { actorOf } from "./actor-of.ts";
import type { Caller } from "./route.ts";

export const serviceCaller = (caller: Caller): ServiceCaller => ({
  named: "this token",
  targets: caller.token.role === "tool" ? caller.token.targets : undefined,
  by: actorOf(caller),
});
