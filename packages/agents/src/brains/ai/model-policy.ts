// The addresses a model may be reached at: any public host over https, because a project chooses its own provider, and the
// addresses that the operator of the plane allows. Redirects are not followed: the profile says where a key goes.

import { type AllowedOrigin, createPolicy, type EgressPolicy } from "@toolplane/egress/policy";

/** No real answer is that large; an endless one would fill the memory. */
const MAX_ANSWER_BYTES = 32 * 1024 * 1024;
/** The brain watches for silence, as long as the profile says; these limits only end requests that are not watched any more. */
const LONGEST_MS = 3_600_000;

export const createModelPolicy = (allow: readonly AllowedOrigin[]): EgressPolicy =>
  createPolicy({
    hosts: "any",
    allow,
    redirects: 0,
    limits: { bodyBytes: MAX_ANSWER_BYTES, idleMs: LONGEST_MS, totalMs: LONGEST_MS },
  });
