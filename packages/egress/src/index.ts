// @toolplane/egress: requests to other machines, held to a policy.

export { createEgress } from "./request/egress.ts";
