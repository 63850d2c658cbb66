// What a definition asks of the HTTP executor. Each kind of options (`openapi`, `jina`) makes one of these from the definition;
// the executor does the rest, the same for all.

import type { JsonObject } from "@toolplane/protocol";
import type { SecretDeclaration } from "@toolplane/sdk";
import type { HttpRequest } from "./plan-request.ts";

export interface PlanMeans {
  readonly arguments: JsonObject;
  /** Variable -> value. */
  readonly secrets: Readonly<Record<string, string>>;
  readonly idempotencyKey: string;
  /** Random text for the boundary of a multipart form. */
  readonly boundary: string;
}

export interface HttpPlan {
  /** The variables that the request needs, and the one host they go to. */
  readonly declared: SecretDeclaration & { readonly sentTo: string };
  /** The only hosts that may be asked, redirects included. */
  readonly allowHosts: readonly string[];
  /** A limit of its own below the call's deadline. */
  readonly timeoutMs: number | undefined;
  /** The operation only reads: it may be tried again unless the definition says otherwise. */
  readonly isRepeatable?: boolean | undefined;
  /** Pure; throws `bad_request` for arguments that make no request. */
  request(means: PlanMeans): HttpRequest;
}
