// The link that `up` prints: it logs a browser in, once, with the rights of the first token. The code stands after the #, which a
// browser keeps to itself, so it is in no request and in no log of a proxy.

import { readFileSync } from "node:fs";
import type { Engine, Log } from "@toolplane/engine";
import { reachable } from "./address-file.ts";
import { tokenPath } from "./token-file.ts";

export interface ConsoleLinkOptions {
  readonly engine: Pick<Engine, "tokens" | "logins">;
  readonly dataDir: string;
  /** `host:port` of this server. */
  readonly address: string;
  readonly log: Log;
}

/** Undefined when the token's file cannot be used: the plane runs without the link, and `toolplane console` makes another. */
export const makeConsoleLink = async ({
  engine,
  dataDir,
  address,
  log,
}: ConsoleLinkOptions): Promise<string | undefined> => {
  try {
    const token = await engine.tokens.check(readFileSync(tokenPath(dataDir), "utf8").trim());
    if (token === undefined) return undefined;
    const by = { door: "config", tokenId: token.tokenId, role: token.role, actor: "toolplane up" } as const;
    return `${reachable(address)}/#login=${(await engine.logins.makeCode(token.tokenId, by)).code}`;
  } catch (error) {
    log.warn("no login link was made for the console", { reason: String(error), todo: "run: toolplane console" });
    return undefined;
  }
};
