// The console's files, as its package has built them: index.html, and files whose names carry a hash of their content.
//   CO1. Only names that were found in the directory are served. A path is looked up in a table and never joined to a file name.
//   CO2. index.html answers every path that a browser asks for as a page (Accept: text/html) and that no route has, so that links
//        into the console work. It is checked again each time; files under assets/ are kept by the browser for good.
//   CO3. A file that has a compressed copy beside it (.gz) is sent compressed to a browser that takes it.

import { createHash } from "node:crypto";
import { readdirSync, readFileSync, statSync } from "node:fs";
import { join } from "node:path";
import type { Context } from "hono";
import { missingPage } from "./missing-page.ts";
import { PAGE_HEADERS } from "./page-headers.ts";

export interface ConsoleFiles {
  /** Undefined: the request is for no file and no page. */
  answer(context: Context): Response | undefined;
}

interface ConsoleFile {
  readonly type: string;
  readonly content: Uint8Array<ArrayBuffer>;
  readonly gzip: Uint8Array<ArrayBuffer> | undefined;
  readonly etag: string;
  readonly isLasting: boolean;
}

interface Build {
  /** When index.html was written. */
  readonly madeAt: number;
  readonly files: ReadonlyMap<string, ConsoleFile>;
}

const TYPES: Readonly<Record<string, string>> = {
  html: "text/html; charset=utf-8",
  js: "text/javascript; charset=utf-8",
  css: "text/css; charset=utf-8",
  json: "application/json",
  map: "application/json",
  svg: "image/svg+xml",
  png: "image/png",
  ico: "image/x-icon",
  txt: "text/plain; charset=utf-8",
  woff2: "font/woff2",
  webmanifest: "application/manifest+json",
};

const INDEX = "index.html";
/** Names with a hash in them, so their content never changes. */
const LASTING = "assets/";
const PACKED = ".gz";

const typeOf = (name: string): string | undefined => TYPES[name.slice(name.lastIndexOf(".") + 1).toLowerCase()];

const readBytes = (path: string): Uint8Array<ArrayBuffer> => new Uint8Array(readFileSync(path));

const readBuild = (directory: string, madeAt: number): Build => {
  const names = readdirSync(directory, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) =>
      join(entry.parentPath, entry.name)
        .slice(directory.length + 1)
        .replaceAll("\\", "/"),
    );
  const packed = new Set(names.filter((name) => name.endsWith(PACKED)));
  const files = new Map<string, ConsoleFile>();
  for (const name of names) {
    const type = typeOf(name);
    if (type === undefined || packed.has(name)) continue;
    const content = readBytes(join(directory, name));
    files.set(name, {
      type,
      content,
      gzip: packed.has(`${name}${PACKED}`) ? readBytes(join(directory, `${name}${PACKED}`)) : undefined,
      etag: `"${createHash("sha256").update(content).digest("base64url").slice(0, 22)}"`,
      isLasting: name.startsWith(LASTING),
    });
  }
  return { madeAt, files };
};

const takesGzip = (header: string | undefined): boolean =>
  (header ?? "").split(",").some((coding) => /^gzip(;q=(1|0\.[0-9]*[1-9]))?$/.test(coding.replaceAll(" ", "")));

const wantsPage = (context: Context): boolean => (context.req.header("accept") ?? "").includes("text/html");

const send = (context: Context, { type, content, gzip, etag, isLasting }: ConsoleFile): Response => {
  const headers: Record<string, string> = {
    ...PAGE_HEADERS,
    "Content-Type": type,
    "Cache-Control": isLasting ? "public, max-age=31536000, immutable" : "no-cache",
    ETag: etag,
    Vary: "Accept-Encoding",
  };
  if (context.req.header("if-none-match") === etag) return context.body(null, 304, headers);
  const isPacked = gzip !== undefined && takesGzip(context.req.header("accept-encoding"));
  const body = isPacked ? gzip : content;
  headers["Content-Length"] = String(body.length);
  if (isPacked) headers["Content-Encoding"] = "gzip";
  return context.body(body, 200, headers);
};

/** `find` says where the console is; it is asked again while there is none. */
export const createConsoleFiles = (find: () => string | undefined): ConsoleFiles => {
  let build: Build | undefined;

  /** The build of now: a console that is built again while the server runs is read again. */
  const current = (): Build | undefined => {
    const directory = find();
    const madeAt =
      directory === undefined ? undefined : statSync(join(directory, INDEX), { throwIfNoEntry: false })?.mtimeMs;
    if (directory === undefined || madeAt === undefined) build = undefined;
    else if (build?.madeAt !== madeAt) build = readBuild(directory, madeAt);
    return build;
  };

  return {
    answer(context) {
      if (context.req.method !== "GET" && context.req.method !== "HEAD") return undefined;
      const name = context.req.path.slice(1);
      // A file that was read stays good while its build does; only pages look whether there is a newer build.
      const isPage = name === "" || wantsPage(context);
      const files = (isPage || build === undefined ? current() : build)?.files;
      const file = files?.get(name) ?? (isPage ? files?.get(INDEX) : undefined);
      if (file !== undefined) return send(context, file);
      if (name !== "" || files !== undefined) return undefined;
      return context.body(missingPage(), 200, { ...PAGE_HEADERS, "Content-Type": TYPES.html ?? "" });
    },
  };
};
