import { chmodSync, mkdtempSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { type Role, silentLog, type Token } from "@toolplane/engine";
import fc from "fast-check";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { ensureTokenFile, type TokenFileOptions, tokenPath } from "./token-file.ts";

/** Tokens as the engine keeps them, in memory. */
const createTokens = () => {
  const made = new Map<string, { token: Token; secret: string }>();
  const add = (label: string, role: Role = "admin"): string => {
    const tokenId = `t${String(made.size).padStart(4, "0")}`;
    const secret = `tp_${tokenId}_secret`;
    const token = {
      tokenId,
      role,
      label,
      projectId: null,
      actorId: null,
      targets: [],
      createdAt: new Date(0),
      expiresAt: null,
      revokedAt: null,
    };
    made.set(tokenId, { token, secret });
    return secret;
  };
  const tokens: TokenFileOptions["tokens"] = {
    async create({ label = "", role }) {
      const secret = add(label, role);
      return { token: [...made.values()].at(-1)?.token as Token, secret };
    },
    async check(secret) {
      return [...made.values()].find((one) => one.secret === secret && one.token.revokedAt === null)?.token;
    },
    async list({ after = "", limit = 500 } = {}) {
      return [...made.values()]
        .map(({ token }) => token)
        .filter(({ tokenId }) => tokenId > after)
        .slice(0, limit);
    },
    async revoke(tokenId) {
      const one = made.get(tokenId);
      if (one !== undefined) made.set(tokenId, { ...one, token: { ...one.token, revokedAt: new Date(0) } });
    },
  };
  const live = (): readonly string[] =>
    [...made.values()].filter(({ token }) => token.revokedAt === null).map(({ secret }) => secret);
  return { tokens, add, live };
};

let dataDir: string;
beforeEach(() => {
  dataDir = mkdtempSync(join(tmpdir(), "toolplane-token-"));
});
afterEach(() => rmSync(dataDir, { recursive: true }));

const read = (): string => readFileSync(tokenPath(dataDir), "utf8").trim();
const modeOf = (): number => statSync(tokenPath(dataDir)).mode & 0o777;

describe("[UP-3-1] the token file", () => {
  test("is made once, for its owner alone, and leaves nothing beside it", async () => {
    const { tokens, live } = createTokens();
    const ensure = () => ensureTokenFile({ dataDir, tokens, label: "up", log: silentLog });
    expect(await ensure()).toBe(true);
    expect(await ensure()).toBe(false);
    expect([read()]).toEqual(live());
    expect(modeOf()).toBe(0o600);
    expect(readdirSync(dataDir)).toEqual(["token"]);
  });

  test.each<[string, (add: (label: string, role?: Role) => string) => string | undefined]>([
    ["lost", () => undefined],
    ["empty", () => ""],
    ["of a token nobody knows", () => "tp_x_y"],
    ["of a token that may less", (add) => add("made by hand", "viewer")],
  ])("that is %s is replaced, and only tokens of this label are revoked", async (_what, prepare) => {
    const { tokens, add, live } = createTokens();
    const old = add("up");
    const other = add("somebody else's");
    const text = prepare(add);
    if (text !== undefined) writeFileSync(tokenPath(dataDir), text);
    expect(await ensureTokenFile({ dataDir, tokens, label: "up", log: silentLog })).toBe(true);
    expect(live()).toContain(read());
    expect(live()).toContain(other);
    expect(live()).not.toContain(old);
  });

  test("old tokens are found among many", async () => {
    const { tokens, add, live } = createTokens();
    for (let index = 0; index < 1_200; index += 1) add(index % 2 === 0 ? "up" : "other");
    await ensureTokenFile({ dataDir, tokens, label: "up", log: silentLog });
    expect(live()).toHaveLength(601);
  });

  test("that others can read is closed and said", async () => {
    const { tokens } = createTokens();
    await ensureTokenFile({ dataDir, tokens, label: "up", log: silentLog });
    chmodSync(tokenPath(dataDir), 0o644);
    const warned: string[] = [];
    const log = { ...silentLog, warn: (message: string) => void warned.push(message) };
    expect(await ensureTokenFile({ dataDir, tokens, label: "up", log })).toBe(false);
    expect(modeOf()).toBe(0o600);
    expect(warned).toHaveLength(1);
  });
});

test("[UP-9-6] processes that share a directory and start at the same moment end with one file whose token works", async () => {
  await fc.assert(
    fc.asyncProperty(fc.scheduler(), async (scheduler) => {
      rmSync(tokenPath(dataDir), { force: true });
      const { tokens } = createTokens();
      const slow: TokenFileOptions["tokens"] = {
        create: scheduler.scheduleFunction(tokens.create),
        check: scheduler.scheduleFunction(tokens.check),
        list: scheduler.scheduleFunction(tokens.list),
        revoke: scheduler.scheduleFunction(tokens.revoke),
      };
      const starts = Array.from({ length: 3 }, () =>
        ensureTokenFile({ dataDir, tokens: slow, label: "up", log: silentLog }),
      );
      await scheduler.waitFor(Promise.all(starts));
      expect((await tokens.check(read()))?.role).toBe("admin");
    }),
    { numRuns: 60 },
  );
});
