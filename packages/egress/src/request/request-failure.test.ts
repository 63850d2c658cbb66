import { expect, test } from "vitest";
import { understandFailure } from "./request-failure.ts";

const context = {
  host: "api.example",
  address: "api.example:8080",
  limits: { bodyBytes: 10, idleMs: 1_000, totalMs: 2_000 } as never,
  signal: undefined,
  deadline: new AbortController().signal,
};
const failed = (code: string): Error =>
  Object.assign(new TypeError("fetch failed"), { cause: Object.assign(new RangeError("x"), { code }) });

test.each([
  ["ECONNREFUSED", "api.example:8080 refused the connection: no program listens there", { sent: false }],
  ["EHOSTUNREACH", "api.example:8080 cannot be reached", { sent: false }],
  ["UND_ERR_CONNECT_TIMEOUT", "api.example:8080 cannot be reached", { sent: false }],
  ["ENOTFOUND", "the name api.example cannot be resolved", { sent: false }],
  ["CERT_HAS_EXPIRED", "the certificate of api.example is not trusted", { sent: false }],
  ["UND_ERR_SOCKET", "api.example:8080 broke the connection before its answer was whole", {}],
  ["ECONNRESET", "api.example:8080 broke the connection before its answer was whole", {}],
])("%s says what happened, and whether anything was sent", (code, message, detail) => {
  expect(understandFailure(failed(code), context)).toMatchObject({
    code: "upstream_unavailable",
    message,
    detail: { host: "api.example", ...detail },
  });
});
