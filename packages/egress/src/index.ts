// @toolplane/egress: requests to other machines, held to a policy.

export { createEgress, type Egress } from "./request/egress.ts";
export { REFUSED_METHODS, readHeaders } from "./request/read-request.ts";
