// What a person has: `toolplane up` in a process of its own, and a browser that opens the link it prints.

import { execFileSync } from "node:child_process";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { type AnswerBody, askApi, ensureProgram } from "@toolplane/testkit";
import { type Browser, type BrowserContext, chromium, type Page } from "playwright-core";
import { expect } from "vitest";
import { type Program, startProgram } from "../cli/program.ts";
import { TOOLPLANE } from "../toolplane-argv.ts";
import { makeUsedPlace } from "../up/data.ts";

const ROOT = fileURLToPath(new URL("../..", import.meta.url));
const PATIENCE_MS = 30_000;

const CHROMIUM = {
  name: "chromium",
  debianPackage: "chromium",
  otherwise: "elsewhere: install Chromium and put it on PATH as chromium",
} as const;

export interface ConsoleStack extends AsyncDisposable {
  readonly url: string;
  readonly token: string;
  readonly browser: Browser;
  /** A link that logs a browser in, once. */
  readonly link: string;
  api(method: string, path: string, body?: unknown): Promise<AnswerBody>;
  /** SIGKILL, as when the machine loses its power. */
  kill(): Promise<void>;
  /** At the same address. */
  startAgain(): Promise<void>;
}

const linkIn = (out: string): string | undefined => out.match(/^console +(http:\/\/\S+)$/m)?.[1];
const urlIn = (out: string): string | undefined => out.match(/^ready (http:\/\/\S+)$/m)?.[1];

export const startConsole = async (): Promise<ConsoleStack> => {
  // After a change of its sources; otherwise `npm ci` has built it.
  execFileSync(process.execPath, ["scripts/build-console.ts", "--if-changed"], { cwd: ROOT, stdio: "inherit" });
  const [place, executablePath] = await Promise.all([makeUsedPlace(), ensureProgram(CHROMIUM)]);
  const start = (port: string): Promise<Program> => {
    const argv = [...TOOLPLANE, "up", "--demo", "--port", port, "--data", place.dataDir];
    return startProgram(argv, { cwd: place.root });
  };
  let program = await start("0");
  const url = await program.until("ready", urlIn);
  const link = linkIn(program.out()) ?? "";
  const token = readFileSync(join(place.dataDir, "token"), "utf8").trim();
  // Containers run tests as root, where Chromium has no sandbox to offer; it only opens our own page.
  const args = [...(process.getuid?.() === 0 ? ["--no-sandbox"] : []), "--disable-gpu"];
  const browser = await chromium.launch({ executablePath, args });
  return {
    url,
    token,
    browser,
    link,
    async api(method, path, body) {
      const { status, body: answer } = await askApi({ url, token }, { method, path, body });
      if (status >= 400) expect.fail(`${method} ${path}: ${status} ${JSON.stringify(answer)}`);
      return answer;
    },
    async kill() {
      program.process.kill("SIGKILL");
      await program.ended;
    },
    async startAgain() {
      program = await start(new URL(url).port);
      await program.until("ready", urlIn);
    },
    async [Symbol.asyncDispose]() {
      await browser.close();
      await program[Symbol.asyncDispose]();
      await place[Symbol.asyncDispose]();
    },
  };
};

export type Faults = readonly string[];

/** A page that remembers what must not happen: errors, refusals of the policy, requests to other hosts. */
export const openPage = async (
  stack: ConsoleStack,
  context: BrowserContext,
): Promise<{ readonly page: Page; readonly faults: Faults }> => {
  const page = await context.newPage();
  page.setDefaultTimeout(PATIENCE_MS);
  const faults: string[] = [];
  page.on("pageerror", (error) => faults.push(`error: ${error.message}`));
  page.on("console", (message) => {
    if (message.text().includes("Content Security Policy")) faults.push(`policy: ${message.text()}`);
  });
  page.on("dialog", (dialog) => {
    faults.push(`dialog: ${dialog.message()}`);
    dialog.dismiss().catch(() => undefined);
  });
  page.on("request", (request) => {
    if (!request.url().startsWith(stack.url)) faults.push(`request to ${request.url()}`);
  });
  return { page, faults };
};

export const logInByToken = async (stack: ConsoleStack, page: Page, token = stack.token): Promise<void> => {
  await page.goto(stack.url);
  await page.getByLabel("Token").fill(token);
  await page.getByRole("button", { name: "Log in" }).click();
  await page.getByRole("button", { name: "Log out" }).waitFor();
};
