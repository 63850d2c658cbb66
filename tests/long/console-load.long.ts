// The console on a busy plane: 20,000 calls in the project, then 200 calls a second for as long as TOOLPLANE_CONSOLE_SECONDS says
// (300). Times are printed and not judged: they depend on the machine. What is judged does not: the page draws a bounded number of
// rows, shows the newest call, and its memory does not grow from the middle of the run to its end.

import { loadavg } from "node:os";
import { setTimeout as delay } from "node:timers/promises";
import type { CDPSession, Page } from "playwright-core";
import { expect, test } from "vitest";
import { type ConsoleStack, logInByToken, openPage, startConsole } from "../browser/console-stack.ts";

const CALLS = 20_000;
const BATCH = 500;
const RATE = 200;
const SECONDS = Number(process.env.TOOLPLANE_CONSOLE_SECONDS ?? 300);
/** Far more than the noise of a garbage collector, far less than what 200 calls a second would leave behind. */
const MOST_GROWTH_MB = 16;

const echo = (at: number): object => ({ tool_name: "echo", arguments: { at } });

const makeCalls = async (stack: ConsoleStack, count: number): Promise<void> => {
  const body = Array.from({ length: count }, (_, at) => echo(at));
  await stack.api("POST", "/projects/demo/calls/batch", body);
};

/** After two collections, so that only what is held counts. */
const heapMb = async (session: CDPSession): Promise<number> => {
  await session.send("HeapProfiler.collectGarbage");
  await session.send("HeapProfiler.collectGarbage");
  const { usedSize } = await session.send("Runtime.getHeapUsage");
  return usedSize / 1024 / 1024;
};

const watchLongTasks = async (page: Page): Promise<void> => {
  await page.addInitScript(`
    window.__long = [];
    new PerformanceObserver((list) => { for (const entry of list.getEntries()) window.__long.push(Math.round(entry.duration)); })
      .observe({ type: "longtask", buffered: true });
  `);
};

const print = (line: string): void => {
  process.stderr.write(`console: ${line}\n`);
};

test("20,000 calls and 200 a second", async () => {
  await using stack = await startConsole();
  for (let made = 0; made < CALLS; made += BATCH) await makeCalls(stack, BATCH);
  const { page, faults } = await openPage(
    stack,
    await stack.browser.newContext({ viewport: { width: 1280, height: 800 } }),
  );
  await watchLongTasks(page);
  await logInByToken(stack, page);
  await page.goto(`${stack.url}/p/demo`);
  await page.locator(".call-link").first().waitFor();
  const paint = await page.evaluate(
    "[performance.getEntriesByName('first-contentful-paint')[0]?.startTime, performance.now()].map(Math.round).join(' ms, list shown by ')",
  );
  print(`first paint after ${String(paint)} ms`);
  const session = await page.context().newCDPSession(page);
  await page.evaluate("window.__long.length = 0");
  const began = Date.now();
  let sent = 0;
  let middle = 0;
  while (Date.now() - began < SECONDS * 1_000) {
    const due = Math.floor(((Date.now() - began) / 1_000) * RATE) - sent;
    if (due > 0) await makeCalls(stack, Math.min(due, BATCH));
    sent += Math.max(0, Math.min(due, BATCH));
    if (middle === 0 && Date.now() - began > SECONDS * 500) middle = await heapMb(session);
    await delay(50);
  }
  const end = await heapMb(session);
  const long = String(
    await page.evaluate(
      "window.__long.length + ' tasks longer than 50 ms, the longest ' + (window.__long.toSorted((a, b) => b - a).slice(0, 5).join(', ') || 0)",
    ),
  );
  print(
    `${sent} calls in ${SECONDS} s; ${long} ms; heap ${middle.toFixed(1)} MB in the middle, ${end.toFixed(1)} MB at the end; load of the machine ${loadavg()[0]?.toFixed(1)}`,
  );
  const last = await stack.api("POST", "/projects/demo/calls", { tool_name: "echo", arguments: {}, wait_seconds: 20 });
  await page
    .locator(`a[href="/p/demo/calls/${String(last.tool_call_id)}"]`)
    .getByText("success")
    .waitFor();
  expect(await page.locator(".call-link").count()).toBeLessThan(100);
  expect(end - middle).toBeLessThan(MOST_GROWTH_MB);
  expect(faults).toEqual([]);
});
