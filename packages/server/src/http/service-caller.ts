// The holder of a token, as the operations of a tool service see it.

import type { ServiceCaller } from "../gateway/service-request.ts";
import type { Caller } from "./route.ts";

export const serviceCaller = ({ token }: Pick<Caller, "token">): ServiceCaller => ({
  named: "this token",
  targets: token.role === "tool" ? token.targets : undefined,
});
