// Who uses the files of a data directory besides the owner of its embedded database: a plane with a database of its own keeps its
// address and its token there, and nothing locks them.
//   AO1. A start that would replace them while that plane lives is refused, unless it is a process over the same database.
//   AO2. The living plane is known by the token in the directory: it takes this token, or cannot check it because its database is
//       away. So an address that a killed plane left behind refuses nobody, also when another program has its port now.

import { readFileSync } from "node:fs";
import type { Tokens } from "@toolplane/engine";
import { isRecord, ToolplaneError, tryParseJsonStrict } from "@toolplane/protocol";
import { addressPath } from "./address-file.ts";
import { alreadyRunning, findOwnerOf } from "./server-life.ts";
import { tokenPath } from "./token-file.ts";

export interface FoundPlane {
  readonly url: string;
  readonly token: string;
}

/** The token goes to no other machine. */
const LOOPBACK: ReadonlySet<string> = new Set(["127.0.0.1", "[::1]"]);

/** A plane of this machine answers in milliseconds. */
const ANSWER_MS = 2_000;

const AWAY = 503;

const readLine = (path: string): string => {
  try {
    return readFileSync(path, "utf8").trim();
  } catch {
    return "";
  }
};

/** A plane whose database is away cannot check the token; its answer still has the shape of a plane's. */
const isPlaneWithoutDatabase = async (response: Response): Promise<boolean> => {
  if (response.status !== AWAY) return false;
  const body = tryParseJsonStrict(await response.text());
  return isRecord(body) && isRecord(body.error) && typeof body.error.code === "string";
};

/** The plane that lives at the address in the directory and takes the token in it. */
export const findPlaneOf = async (dataDir: string): Promise<FoundPlane | undefined> => {
  const address = URL.parse(readLine(addressPath(dataDir)));
  const token = readLine(tokenPath(dataDir));
  if (address === null || address.protocol !== "http:" || !LOOPBACK.has(address.hostname) || token === "")
    return undefined;
  try {
    const response = await fetch(`${address.origin}/whoami`, {
      headers: { authorization: `Bearer ${token}` },
      redirect: "error",
      signal: AbortSignal.timeout(ANSWER_MS),
    });
    if (response.ok || (await isPlaneWithoutDatabase(response))) return { url: address.origin, token };
    return undefined;
  } catch {
    return undefined;
  }
};

const refuse = async (dataDir: string, { url }: FoundPlane): Promise<never> => {
  const owner = await findOwnerOf(dataDir);
  if (owner !== undefined) throw alreadyRunning(dataDir, owner);
  throw new ToolplaneError(
    "conflict",
    `already running: a plane with another database serves ${url} and has its token and address in ${dataDir}`,
    { detail: { url, todo: "stop it first, start with another --data, or give both the same --database-url" } },
  );
};

/** Before an embedded database is opened or made. One that has an owner is left to the owner's lock. */
export const refuseBesidePlane = async (dataDir: string, found: FoundPlane): Promise<void> => {
  if ((await findOwnerOf(dataDir)) === undefined) await refuse(dataDir, found);
};

/** For a database of one's own: a plane over the same database knows the same token. */
export const refuseOtherDatabase = async (
  dataDir: string,
  found: FoundPlane,
  tokens: Pick<Tokens, "check">,
): Promise<void> => {
  if ((await tokens.check(found.token)) === undefined) await refuse(dataDir, found);
};
