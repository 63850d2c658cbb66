// Where a request with a cookie may come from. The browser adds the cookie to requests of any page of this host name, also of
// another port, so the cookie alone proves nothing. What is accepted:
//   - a request whose Sec-Fetch-Site is same-origin; the browser says it, and no page can change it;
//   - one without Sec-Fetch-Site (an older browser, or plain http to another machine), if it only reads, or has an Origin. The
//     application has compared the Origin with the Host already (check-host.ts);
//   - one that a person began in the address bar (none), if it only reads.

import { ToolplaneError } from "@toolplane/protocol";

export interface Provenance {
  readonly method: string;
  readonly origin: string | undefined;
  /** Sec-Fetch-Site. */
  readonly fetchSite: string | undefined;
}

const READS: ReadonlySet<string> = new Set(["GET", "HEAD"]);

/** Whether a request comes from a page of this server. */
export const isOwnRequest = ({ method, origin, fetchSite }: Provenance): boolean => {
  if (fetchSite === "same-origin") return true;
  if (fetchSite === "none") return READS.has(method);
  return fetchSite === undefined && (READS.has(method) || origin !== undefined);
};

const BY_TOKEN = "a program needs no session: send a token, Authorization: Bearer <token>";

const foreign = (message: string): ToolplaneError =>
  new ToolplaneError("auth_failed", message, { detail: { todo: BY_TOKEN } });

export const refuseForeignPage = (provenance: Provenance): void => {
  if (!isOwnRequest(provenance))
    throw foreign(
      "a request with a session cookie comes from a page of this server: it needs its Origin, or Sec-Fetch-Site: same-origin",
    );
};

/** Logging in and out. `host` is the Host header: the origin of this server's pages has it. */
export const refuseForeignLogin = (provenance: Provenance, host: string): void => {
  if (!isOwnRequest(provenance))
    throw foreign(
      `browsers log in and out from a page of this server: the request needs the header Origin: http://${host} (https:// behind TLS), or Sec-Fetch-Site: same-origin`,
    );
};
