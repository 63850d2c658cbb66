// The console's files: what is served to whom, with which headers; and that nothing else is.

import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { gunzipSync, gzipSync } from "node:zlib";
import { silentLog } from "@toolplane/engine";
import { createApp, createConsoleFiles, routes } from "@toolplane/server/internal";
import { afterAll, describe, expect, test } from "vitest";

const home = mkdtempSync(join(tmpdir(), "toolplane-console-"));
afterAll(() => rmSync(home, { recursive: true }));
const directory = join(home, "dist");

const build = (index: string): void => {
  mkdirSync(join(directory, "assets"), { recursive: true });
  writeFileSync(join(directory, "assets", "app-1a2b.js"), "let a;");
  writeFileSync(join(directory, "assets", "app-1a2b.js.gz"), gzipSync("let a;"));
  writeFileSync(join(directory, "program.exe"), "no");
  writeFileSync(join(home, "secret.txt"), "not to be served");
  writeFileSync(join(directory, "index.html"), index);
};

const app = createApp({
  engine: () => undefined,
  routes,
  console: createConsoleFiles(() => directory),
  log: silentLog,
  health: async () => ({ ok: true, body: {} }),
  hosts: [],
  draining: new AbortController().signal,
});

const PAGE = "text/html,application/xhtml+xml,*/*;q=0.8";
const get = (path: string, headers: Record<string, string> = { accept: PAGE }, method = "GET") =>
  app.request(path, { method, headers: { host: "localhost", ...headers } });

test("without a console, / says in one page what to do; other paths are not there", async () => {
  const page = await get("/");
  expect([page.status, page.headers.get("content-type")]).toEqual([200, "text/html; charset=utf-8"]);
  expect(await page.text()).toContain("npm run build -w @toolplane/console");
  expect((await get("/p/demo")).status).toBe(404);
});

describe("with a console", () => {
  test("[SEC-11-L9] / and links into the console get the page, with its policy", async () => {
    build("<h1>one</h1>");
    for (const path of ["/", "/p/demo/calls/x", "/login"]) {
      const page = await get(path);
      expect([page.status, await page.text(), page.headers.get("cache-control")]).toEqual([
        200,
        "<h1>one</h1>",
        "no-cache",
      ]);
      const policy = page.headers.get("content-security-policy") ?? "";
      expect(policy).toContain("default-src 'none'");
      expect(policy).toContain("frame-ancestors 'none'");
      expect(policy).not.toContain("unsafe");
      expect(page.headers.get("x-frame-options")).toBe("DENY");
      expect(page.headers.get("x-content-type-options")).toBe("nosniff");
      expect(page.headers.get("referrer-policy")).toBe("no-referrer");
    }
    expect((await get("/", { accept: PAGE, "if-none-match": (await get("/")).headers.get("etag") ?? "" })).status).toBe(
      304,
    );
    expect((await get("/", { accept: PAGE }, "HEAD")).status).toBe(200);
  });

  test("[SEC-11-L9] routes win, and a program that asks for no page gets none", async () => {
    // The engine is not there yet: a route says so, in JSON.
    expect((await get("/projects/demo/calls")).status).toBe(503);
    expect((await get("/session")).status).toBe(405);
    expect((await get("/health")).status).toBe(200);
    for (const path of ["/p/demo", "/assets/gone.js"]) expect((await get(path, { accept: "*/*" })).status).toBe(404);
    expect((await get("/", { accept: PAGE }, "POST")).status).toBe(404);
  });

  test("files with a hash in their name are kept for good, and sent compressed where that is taken", async () => {
    const plain = await get("/assets/app-1a2b.js", { accept: "*/*" });
    expect([plain.headers.get("content-type"), plain.headers.get("cache-control"), await plain.text()]).toEqual([
      "text/javascript; charset=utf-8",
      "public, max-age=31536000, immutable",
      "let a;",
    ]);
    const packed = await get("/assets/app-1a2b.js", { accept: "*/*", "accept-encoding": "gzip, deflate, br" });
    expect([packed.headers.get("content-encoding"), packed.headers.get("vary")]).toEqual(["gzip", "Accept-Encoding"]);
    expect(gunzipSync(new Uint8Array(await packed.arrayBuffer())).toString()).toBe("let a;");
    const refused = await get("/assets/app-1a2b.js", { accept: "*/*", "accept-encoding": "gzip;q=0" });
    expect(refused.headers.get("content-encoding")).toBeNull();
  });

  test.each([
    "/../secret.txt",
    "/assets/../../secret.txt",
    "/%2e%2e/secret.txt",
    "/..%2fsecret.txt",
    "/assets/..%5c..%5csecret.txt",
    "//etc/passwd",
    "/assets",
    "/assets/app-1a2b.js.gz",
    "/program.exe",
    "/index.html%00.js",
    "/__proto__",
    "/constructor",
  ])("[SEC-11-L9] %s is not there", async (path) => {
    const answer = await get(path, { accept: "*/*" });
    expect(answer.status).toBe(404);
    expect(await answer.text()).not.toContain("not to be served");
  });

  test("a console that is built again is served anew", async () => {
    rmSync(join(directory, "index.html"));
    expect(await (await get("/")).text()).toContain("The console is not built");
    build("<h1>two</h1>");
    expect(await (await get("/")).text()).toBe("<h1>two</h1>");
  });
});
