// The cookie of a browser session. The page cannot read it (HttpOnly), and other sites cannot send it (SameSite=Strict). Pages of
// other ports of this host name can send it, so requests with it are checked too (same-origin.ts).

const NAME = "toolplane_session";
/** Longer than any session's secret; a longer value is not a cookie of ours. */
const MAX_LENGTH = 128;

/** The values of our cookie in a Cookie header. A browser may send several when another path or program has set one of this name. */
export const sessionSecretsOf = (header: string | undefined): readonly string[] =>
  (header ?? "")
    .split(";")
    .map((pair) => pair.trim())
    .filter((pair) => pair.startsWith(`${NAME}=`) && pair.length <= MAX_LENGTH)
    .map((pair) => pair.slice(NAME.length + 1))
    .slice(0, 2);

interface CookieOptions {
  /** The request came over TLS: then the browser sends the cookie over TLS only. */
  readonly isSecure: boolean;
  readonly seconds: number;
}

const writeCookie = (value: string, { isSecure, seconds }: CookieOptions): string =>
  [
    `${NAME}=${value}`,
    "Path=/",
    `Max-Age=${Math.max(Math.floor(seconds), 0)}`,
    "HttpOnly",
    "SameSite=Strict",
    ...(isSecure ? ["Secure"] : []),
  ].join("; ");

export const sessionCookie = (secret: string, options: CookieOptions): string => writeCookie(secret, options);

/** Makes the browser forget it. */
export const forgetCookie = (isSecure: boolean): string => writeCookie("", { isSecure, seconds: 0 });
