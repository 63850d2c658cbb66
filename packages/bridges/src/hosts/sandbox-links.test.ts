import { describe, expect, test } from "vitest";
import type { SandboxEntry, SandboxFiles } from "./sandbox-files.ts";
import { refuseLinks } from "./sandbox-links.ts";

const DIRECTORIES: Readonly<Record<string, readonly SandboxEntry[]>> = {
  "/app/plain": [
    { name: "file", kind: "other" },
    { name: "deep", kind: "directory" },
  ],
  "/app/plain/deep": [{ name: "file", kind: "other" }],
  "/app/way": [{ name: "deep", kind: "directory" }],
  "/app/way/deep": [{ name: "to-directory", kind: "link" }],
  "/app/dangling": [{ name: "to-nothing", kind: "link" }],
  "/app/file": [{ name: "to-file", kind: "link" }],
  "/app/closed": [{ name: "to-directory", kind: "link" }],
};
const TARGETS: Readonly<Record<string, string | undefined>> = {
  "/app/way/deep/to-directory": "/app/plain",
  "/app/closed/to-directory": "/app/plain",
  "/app/file/to-file": "/app/plain/file",
  "/app/dangling/to-nothing": undefined,
  "/app/alias": "/app/way",
  "/app/system": "/usr",
};
const FILES: SandboxFiles = {
  isFile: (path) => path === "/app/plain/file",
  isDirectory: (path) => Object.hasOwn(DIRECTORIES, path),
  tryRealPath: (path) => (Object.hasOwn(TARGETS, path) ? TARGETS[path] : path),
  entries: (path) => DIRECTORIES[path] ?? [],
};
const search = { files: FILES, closed: ["/app/closed"] };

describe("[SEC-9-U8] the folders a sandbox names", () => {
  test.each([
    ["a plain folder", ["/app/plain"]],
    ["a folder that does not exist yet", ["/app/new"]],
    ["a link to a file that is open too", ["/app/file", "/app/plain"]],
    ["a closed folder, which is not opened", ["/app/closed"]],
  ])("%s is taken", (_name, named) => {
    expect(() => refuseLinks(named, named, search)).not.toThrow();
  });

  test.each([
    [
      "a link to a directory, also to an open one",
      ["/app/way", "/app/plain"],
      "/app/way/deep/to-directory in it is a link to a directory",
    ],
    [
      "the same behind a link that is named",
      ["/app/alias"],
      "the sandbox names /app/alias, and /app/way/deep/to-directory in it",
    ],
    ["a link to nothing", ["/app/dangling"], "/app/dangling/to-nothing in it is a link to nothing"],
    [
      "a link to a file outside",
      ["/app/file"],
      "is a link to a file outside of the named folders: name narrower folders",
    ],
    ["the root", ["/"], "the sandbox names /, which is a folder of the system"],
    [
      "a system folder behind a link",
      ["/app/system"],
      "the sandbox names /app/system, which is a folder of the system",
    ],
  ])("%s is refused", (_name, named, words) => {
    expect(() => refuseLinks(named, named, search)).toThrow(words);
  });

  test("a link into a folder that may only be read is refused among those that may be written", () => {
    expect(() => refuseLinks(["/app/file"], ["/app/file", "/app/plain"], search)).not.toThrow();
    expect(() => refuseLinks(["/app/file"], ["/app/file"], search)).toThrow("outside of the named folders");
  });

  test("a link to a file in a closed folder is refused", () => {
    const closed = ["/app/plain"];
    expect(() => refuseLinks(["/app/file"], ["/app"], { files: FILES, closed })).toThrow("a link to a file outside");
  });

  test("the search ends at its bounds of entries and of time, and refuses", () => {
    const named = ["/app/plain"];
    expect(() => refuseLinks(named, named, { ...search, maxEntries: 3 })).not.toThrow();
    expect(() => refuseLinks(named, named, { ...search, maxEntries: 2 })).toThrow("hold more than 2 entries");
    let time = 0;
    const now = () => (time += 10);
    expect(() => refuseLinks(named, named, { ...search, maxMs: 15, now })).toThrow("takes more than 15 ms");
  });
});
