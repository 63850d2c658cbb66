// Where the server is and which token is used: flags, then the environment, then the data directory. The server of a data directory
// writes down where it listens, so a command beside it finds it on any port.
//   The token of the data directory is a local administrator's. It is sent to this machine only: for another server, the user
//   must give a token. An address in the data directory counts only if it is one of this machine.

import { join, resolve } from "node:path";
import type { CliIo } from "./io.ts";
import type { Flags } from "./options.ts";
import { WrongUsage } from "./wrong-usage.ts";

const DEFAULT_URL = "http://127.0.0.1:7420";
const DEFAULT_DATA = ".toolplane";
const DEFAULT_PROJECT = "demo";

const LOOPBACK: ReadonlySet<string> = new Set(["127.0.0.1", "localhost", "[::1]"]);

export interface Settings {
  /** Without a slash at the end. */
  readonly url: string;
  readonly project: string;
  /** Undefined when there is none; the server's answer then says that a token is needed. */
  readToken(): Promise<string | undefined>;
  /** Where the token comes from, for advice about a token that was refused. */
  readonly tokenFrom: "--token" | "TOOLPLANE_TOKEN" | "the data directory";
}

/** An empty variable is one that was not set. */
const filled = (text: string | undefined): string | undefined =>
  text === undefined || text.trim() === "" ? undefined : text.trim();

const parseUrl = (text: string): URL => {
  const url = URL.parse(text);
  if (url === null || (url.protocol !== "http:" && url.protocol !== "https:"))
    throw new WrongUsage(`--url takes an address such as ${DEFAULT_URL}, not "${text}"`);
  if (url.username !== "" || url.password !== "")
    throw new WrongUsage("put the token into --token, not into the address");
  return url;
};

const isMissing = (error: unknown): boolean => {
  const code = (error as { readonly code?: unknown } | null)?.code;
  return code === "ENOENT" || code === "ENOTDIR";
};

export const readSettings = async (flags: Flags, io: CliIo): Promise<Settings> => {
  const { env } = io;
  const data = resolve(io.cwd, filled(flags.data) ?? filled(env.TOOLPLANE_DATA) ?? DEFAULT_DATA);
  const readIn = async (name: string): Promise<string | undefined> => {
    try {
      return filled(await io.readFile(join(data, name)));
    } catch (error) {
      if (isMissing(error)) return undefined;
      throw error;
    }
  };
  const beside = async (): Promise<string | undefined> => {
    const address = URL.parse((await readIn("address")) ?? "");
    return address !== null && address.protocol === "http:" && LOOPBACK.has(address.hostname)
      ? address.origin
      : undefined;
  };
  const url = parseUrl(filled(flags.url) ?? filled(env.TOOLPLANE_URL) ?? (await beside()) ?? DEFAULT_URL);
  return {
    url: `${url.origin}${url.pathname === "/" ? "" : url.pathname.replace(/\/$/, "")}`,
    project: filled(flags.project) ?? filled(env.TOOLPLANE_PROJECT) ?? DEFAULT_PROJECT,
    tokenFrom:
      filled(flags.token) !== undefined
        ? "--token"
        : filled(env.TOOLPLANE_TOKEN) !== undefined
          ? "TOOLPLANE_TOKEN"
          : "the data directory",
    async readToken() {
      const given = filled(flags.token) ?? filled(env.TOOLPLANE_TOKEN);
      if (given !== undefined) return given;
      return LOOPBACK.has(url.hostname) ? readIn("token") : undefined;
    },
  };
};
