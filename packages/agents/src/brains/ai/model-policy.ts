// What a model may be asked at: any public host over https, because a project chooses its own provider, and the addresses
// that the operator of the plane allows. A redirect is not followed: it is the profile that says where a key goes.

import { type AllowedOrigin, createPolicy, type EgressPolicy } from "@toolplane/egress/policy";

/** No answer of a model comes near it; an endless one would fill the memory. */
const MAX_ANSWER_BYTES = 32 * 1024 * 1024;
/** Silence is watched by the brain, as long as the profile says; these only end what nobody watches any more. */
const LONGEST_MS = 3_600_000;

export const createModelPolicy = (allow: readonly AllowedOrigin[]): EgressPolicy =>
  createPolicy({
    hosts: "any",
    allow,
    redirects: 0,
    limits: { bodyBytes: MAX_ANSWER_BYTES, idleMs: LONGEST_MS, totalMs: LONGEST_MS },
  });
