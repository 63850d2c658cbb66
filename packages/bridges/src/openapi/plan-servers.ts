// The address that an operation is sent to: the configuration's `base_url`, else the first server of the document. Servers of one
// operation or one path stand above both, because they are where that operation really is.

import { badRequest, isRecord, type JsonObject, type JsonValue } from "@toolplane/protocol";
import type { ListedOperation } from "./list-operations.ts";
import { ownMember, shown } from "./references.ts";

export interface ServerOptions {
  readonly baseUrl: string | undefined;
  /** Where the document was fetched from; relative servers are relative to it. */
  readonly documentUrl: string | undefined;
  readonly root: JsonObject;
}

const MAX_LENGTH = 2_048;

const firstServer = (holder: JsonObject): JsonObject | undefined => {
  const servers = ownMember(holder, "servers");
  const first = Array.isArray(servers) ? (servers as readonly JsonValue[])[0] : undefined;
  return isRecord(first) ? (first as JsonObject) : undefined;
};

const fillVariables = (url: string, variables: JsonValue | undefined): string =>
  url.replace(/\{([^{}]*)\}/gu, (_place, name: string) => {
    const value = ownMember(ownMember(variables, name), "default");
    if (typeof value === "string" || typeof value === "number") return String(value);
    throw badRequest(`the server ${shown(url)} has no default for its variable ${shown(name)}: set base_url`);
  });

const checkAddress = (address: string, documentUrl: string | undefined): string => {
  const url = URL.parse(address, documentUrl);
  if (url === null)
    throw badRequest(
      documentUrl === undefined
        ? `its server ${shown(address)} is relative, and the document is a file: set base_url`
        : `its server ${shown(address)} is not an address`,
    );
  if (url.username !== "" || url.password !== "")
    throw badRequest("the address of its server holds a user or a password: set base_url and auth");
  if (url.protocol !== "https:" && url.protocol !== "http:")
    throw badRequest("its server is not an http or https address");
  url.search = "";
  url.hash = "";
  return url.href.replace(/\/+$/u, "");
};

export const planServer = ({ operation, pathItem }: ListedOperation, options: ServerOptions): string => {
  const { baseUrl, documentUrl, root } = options;
  const own = firstServer(operation.value) ?? firstServer(pathItem.value);
  if (own === undefined && baseUrl !== undefined) return checkAddress(baseUrl, undefined);
  const server = own ?? firstServer(root);
  const url = server === undefined ? "/" : server.url;
  if (typeof url !== "string" || url.length > MAX_LENGTH) throw badRequest("its server has no readable url");
  // A server of one operation may be relative to the base address that the configuration gives.
  return checkAddress(
    fillVariables(url, server?.variables),
    own === undefined ? documentUrl : (baseUrl ?? documentUrl),
  );
};
