// Where a redirect leads and what is sent there. Methods change as the fetch standard says. Another origin gets only harmless
// headers: a list of headers to drop would miss the next provider's name for a key.

import { isToolplaneError, ToolplaneError } from "@toolplane/protocol";
import { isSameOrigin, tryReadOrigin } from "../policy/allowed-origin.ts";
import type { AskedHop, Hop } from "./read-request.ts";

const STATUSES: ReadonlySet<number> = new Set([301, 302, 303, 307, 308]);
const HARMLESS: ReadonlySet<string> = new Set(["accept", "accept-language", "user-agent"]);
const OF_THE_BODY: ReadonlySet<string> = new Set([
  "content-encoding",
  "content-language",
  "content-location",
  "content-type",
]);

const isRewritten = (status: number, method: string): boolean =>
  status === 303 ? method !== "GET" && method !== "HEAD" : (status === 301 || status === 302) && method === "POST";

const without = (headers: Hop["headers"], drops: (name: string) => boolean): Hop["headers"] =>
  new Map([...headers].filter(([name]) => !drops(name)));

/** Where a redirect leads; undefined when the answer is none. */
export const readLocation = ({
  status,
  headers,
}: {
  readonly status: number;
  readonly headers: { get(name: string): string | null };
}): string | undefined => (STATUSES.has(status) ? (headers.get("location") ?? undefined) : undefined);

/** The next hop, not yet checked against a policy. */
export const planRedirect = (hop: AskedHop, status: number, location: string): Hop => {
  const from = tryReadOrigin(hop.url);
  const url = URL.parse(location, hop.url.href);
  const to = url === null ? undefined : tryReadOrigin(url);
  if (url === null || from === undefined || to === undefined)
    throw new ToolplaneError("upstream_unavailable", `the host ${hop.url.hostname} redirects to no http address`);
  const refuse = (why: string): ToolplaneError =>
    new ToolplaneError("auth_failed", `the redirect from ${from.host} to ${to.host} is not followed: ${why}`, {
      detail: { host: to.host, redirected_from: from.host },
    });
  if (from.protocol === "https:" && to.protocol === "http:") throw refuse("it leads from https to plain http");
  const rewritten = isRewritten(status, hop.method);
  const next: Hop = rewritten
    ? { url, method: "GET", headers: without(hop.headers, (name) => OF_THE_BODY.has(name)), body: undefined }
    : { ...hop, url };
  if (isSameOrigin(from, to)) return next;
  // A body may hold a key too, as a header may.
  if (next.body !== undefined) throw refuse("it would send the body of the request to another origin");
  return { ...next, headers: without(next.headers, (name) => !HARMLESS.has(name)) };
};

/** The refusal of an address to which a redirect led: the caller did not name that address, and a request was already sent. */
export const afterRedirect = (error: unknown, from: string): unknown => {
  if (!isToolplaneError(error) || error.code !== "auth_failed") return error;
  const detail = { ...error.detail, redirected_from: from };
  return new ToolplaneError(error.code, `the redirect of ${from} is not followed: ${error.message}`, {
    detail,
    cause: error,
  });
};
