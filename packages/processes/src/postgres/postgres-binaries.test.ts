import {
  chmodSync,
  lstatSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import {
  completeInPlace,
  copyHome,
  findNpmPostgres,
  readPostgresBinaries,
  tryParsePostgresVersion,
} from "./postgres-binaries.ts";

test.each([
  ["postgres (PostgreSQL) 18.4\n", "18.4"],
  ["postgres (PostgreSQL) 15.3 (Debian 15.3-0+deb12u1)", "15.3"],
  ["postgres (PostgreSQL) 19beta1", "19beta1"],
  ["postgres (PostgreSQL) ", undefined],
  ["postgres (PostgreSQL) devel", undefined],
  ["mysqld  Ver 8.0", undefined],
])("tryParsePostgresVersion(%j)", (banner, expected) => {
  expect(tryParsePostgresVersion(banner)).toBe(expected);
});

describe("a package whose install script did not run", () => {
  let root: string;
  let home: string;
  const library = () => join(home, "lib", "libpq.so.5");

  beforeEach(() => {
    root = mkdtempSync(join(tmpdir(), "toolplane-native-"));
    home = join(root, "native");
    for (const name of ["bin", "lib"]) mkdirSync(join(home, name), { recursive: true });
    for (const name of ["initdb", "postgres"]) {
      writeFileSync(join(home, "bin", name), "#!/bin/sh\necho 'postgres (PostgreSQL) 99.1'\n", { mode: 0o600 });
    }
    writeFileSync(join(home, "lib", "libpq.so.5.18"), "library");
    const links = [{ source: "native/lib/libpq.so.5.18", target: "native/lib/libpq.so.5" }];
    writeFileSync(join(home, "pg-symlinks.json"), JSON.stringify(links));
  });

  afterEach(() => rmSync(root, { recursive: true }));

  test("gets its links and its execute bits, and then runs", () => {
    expect(() => readPostgresBinaries(home)).toThrow("do not run");
    expect(completeInPlace(home)).toBe(true);
    expect(readFileSync(library(), "utf8")).toBe("library");
    expect(readPostgresBinaries(home)).toMatchObject({ version: "99.1", major: 99 });
  });

  test("a link that leads nowhere is made again", () => {
    symlinkSync("nowhere", library());
    expect(completeInPlace(home)).toBe(true);
    expect(readFileSync(library(), "utf8")).toBe("library");
  });

  test("one that lacks the library itself is not complete", () => {
    rmSync(join(home, "lib", "libpq.so.5.18"));
    expect(completeInPlace(home)).toBe(false);
  });

  test("a copy is complete, readable by everybody whatever the modes were, and kept when it is there", () => {
    chmodSync(join(home, "lib"), 0o700);
    const copy = copyHome(home, join(root, "place"));
    expect(readPostgresBinaries(copy).version).toBe("99.1");
    expect(readFileSync(join(copy, "lib", "libpq.so.5"), "utf8")).toBe("library");
    expect(lstatSync(join(copy, "lib")).mode & 0o777).toBe(0o755);
    expect(lstatSync(join(copy, "bin", "postgres")).mode & 0o777).toBe(0o755);
    expect(lstatSync(join(copy, "lib", "libpq.so.5.18")).mode & 0o777).toBe(0o644);
    writeFileSync(join(copy, "mark"), "");
    expect(copyHome(home, join(root, "place"))).toBe(copy);
    expect(readFileSync(join(copy, "mark"), "utf8")).toBe("");
  });

  test("a copy that lost files is made again", () => {
    const copy = copyHome(home, join(root, "place"));
    rmSync(join(copy, "lib"), { recursive: true });
    expect(readFileSync(join(copyHome(home, join(root, "place")), "lib", "libpq.so.5"), "utf8")).toBe("library");
  });
});

test("the programs npm brought are found and say their version", () => {
  expect(findNpmPostgres(() => "/nonexistent").major).toBeGreaterThanOrEqual(18);
});
