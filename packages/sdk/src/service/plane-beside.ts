// The plane of the data directory beside this program, on whatever port: a running server writes down where it listens. The command line
// finds the server in the same way (server/src/cli/settings.ts). The token in that directory is an administrator's: a program gets its
// own token from TOOLPLANE_TOKEN.

import { readFileSync } from "node:fs";
import { join, resolve } from "node:path";

const DEFAULT_DATA = ".toolplane";
const LOOPBACK: ReadonlySet<string> = new Set(["127.0.0.1", "localhost", "[::1]"]);

/** Its address, if it is one of this machine; undefined when no plane has run there. */
export const findPlaneBeside = (
  env: Readonly<Record<string, string | undefined>>,
  directory: string,
): string | undefined => {
  const data = env.TOOLPLANE_DATA?.trim();
  let text: string;
  try {
    text = readFileSync(
      join(resolve(directory, data === undefined || data === "" ? DEFAULT_DATA : data), "address"),
      "utf8",
    );
  } catch {
    return undefined;
  }
  const address = URL.parse(text.trim());
  return address !== null && address.protocol === "http:" && LOOPBACK.has(address.hostname)
    ? address.origin
    : undefined;
};
