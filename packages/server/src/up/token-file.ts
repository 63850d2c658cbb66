// The first token: made at the first start, written to <data>/token for its owner alone, used again later.
//   TF1. The file is 0600 from the moment it has a name, and appears whole or not at all.
//   TF2. A file that is lost, or whose token is revoked or unknown, is replaced, and the earlier tokens of this data directory
//       are revoked: at any time exactly one such token works.
//   TF3. Processes that share a directory may do this at the same moment. Each writes its own token before it revokes others, and
//       looks again afterwards, so the file that stays holds a token that works.

import { randomBytes } from "node:crypto";
import { chmodSync, existsSync, readFileSync, renameSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import type { Log, Token, Tokens } from "@toolplane/engine";
import { ToolplaneError } from "@toolplane/protocol";

export interface TokenFileOptions {
  readonly dataDir: string;
  readonly tokens: Pick<Tokens, "create" | "check" | "list" | "revoke">;
  /** The label by which the tokens of this data directory are found. */
  readonly label: string;
  readonly log: Log;
}

const MODE = 0o600;
const PAGE = 500;

export const tokenPath = (dataDir: string): string => join(dataDir, "token");

const readSecret = (path: string, log: Log): string | undefined => {
  if (!existsSync(path)) return undefined;
  try {
    if ((statSync(path).mode & 0o077) !== 0) {
      log.warn("the token file was readable by others; closed", { path });
      chmodSync(path, MODE);
    }
    return readFileSync(path, "utf8").trim();
  } catch (cause) {
    throw new ToolplaneError("storage_error", `the token file ${path} cannot be read`, {
      detail: { todo: "mend or remove it: a new one is made then" },
      cause,
    });
  }
};

/** Under its name the file has mode 0600 and its whole text, or it is not there. */
export const writeSecret = (path: string, secret: string): void => {
  const fresh = `${path}.${randomBytes(6).toString("hex")}`;
  // "wx": fails if another process has put a file or link under this name.
  writeFileSync(fresh, `${secret}\n`, { mode: MODE, flag: "wx" });
  chmodSync(fresh, MODE);
  renameSync(fresh, path);
};

const findOwn = async ({ tokens, label }: TokenFileOptions): Promise<readonly Token[]> => {
  const own: Token[] = [];
  for (let after: string | undefined; ; ) {
    const page = await tokens.list({ after, limit: PAGE });
    own.push(...page.filter((token) => token.label === label && token.revokedAt === null));
    after = page.at(-1)?.tokenId;
    if (page.length < PAGE) return own;
  }
};

/** Returns whether it was made now. */
export const ensureTokenFile = async (options: TokenFileOptions): Promise<boolean> => {
  const { dataDir, tokens, label, log } = options;
  const path = tokenPath(dataDir);
  for (let made = false; ; made = true) {
    const secret = readSecret(path, log);
    if (secret !== undefined && (await tokens.check(secret))?.role === "admin") return made;
    const before = await findOwn(options);
    const token = await tokens.create({ role: "admin", label });
    writeSecret(path, token.secret);
    for (const { tokenId } of before) await tokens.revoke(tokenId);
    if (before.length > 0)
      log.warn(
        "the token file was missing or held no valid token of an administrator: there is a new one, and the old tokens are revoked",
        { path },
      );
  }
};
