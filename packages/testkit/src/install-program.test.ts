import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { delimiter, join } from "node:path";
import { afterEach, beforeEach, describe, expect, test, vi } from "vitest";
import { ensureProgram } from "./install-program.ts";

const WANTED = { name: "toolplane-no-such-program", debianPackage: "some-package", otherwise: "elsewhere: build it" };

describe("[API-1-3] a program a test needs", () => {
  let directory: string;
  const put = (): void => writeFileSync(join(directory, WANTED.name), "#!/bin/sh\n", { mode: 0o755 });

  beforeEach(() => {
    directory = mkdtempSync(join(tmpdir(), "toolplane-path-"));
    vi.stubEnv("PATH", `/usr/bin${delimiter}${directory}`);
  });

  afterEach(() => {
    vi.unstubAllEnvs();
    rmSync(directory, { recursive: true });
  });

  test("is taken from PATH, and then nothing is installed", async () => {
    put();
    const install = vi.fn(async () => undefined);
    expect(await ensureProgram(WANTED, install)).toBe(join(directory, WANTED.name));
    expect(install).not.toHaveBeenCalled();
  });

  test("is installed when it is missing", async () => {
    const install = vi.fn(async () => put());
    expect(await ensureProgram(WANTED, install)).toBe(join(directory, WANTED.name));
    expect(install).toHaveBeenCalledWith("some-package");
  });

  test("fails with what to do when the installation fails", async () => {
    const install = async (): Promise<void> => Promise.reject(new RangeError("no network"));
    await expect(ensureProgram(WANTED, install)).rejects.toMatchObject({
      code: "not_found",
      message: expect.stringMatching(/apt-get could not install it.*apt-get install some-package; elsewhere: build it/),
      cause: expect.objectContaining({ message: "no network" }),
    });
  });
});
