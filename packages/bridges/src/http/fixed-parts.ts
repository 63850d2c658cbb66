// The parts of a request that a definition fixes, checked when it is registered and again when it runs: its method and its headers.

import { REFUSED_METHODS, readHeaders } from "@toolplane/egress";
import { isToolplaneError, ToolplaneError } from "@toolplane/protocol";

/** The key of the options that hold them. */
export type PartsKey = "openapi" | "jina";

const refuse = (key: string, why: string): ToolplaneError =>
  new ToolplaneError("bad_request", `options.${key} ${why}`, { detail: { path: `$.options.${key}` } });

const METHOD = /^[A-Z]{1,32}$/u;

export const readMethod = (given: string, key: PartsKey): string => {
  const method = given.toUpperCase();
  if (METHOD.test(method) && !REFUSED_METHODS.has(method)) return method;
  throw refuse(`${key}.method`, "is not a method that can be sent");
};

export const checkHeaders = (
  headers: Readonly<Record<string, string>>,
  key: PartsKey,
): Readonly<Record<string, string>> => {
  try {
    readHeaders(headers);
    return headers;
  } catch (error) {
    throw isToolplaneError(error) ? refuse(`${key}.headers`, `cannot be sent: ${error.message}`) : error;
  }
};
