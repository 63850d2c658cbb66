// What tools say is shown as text, whatever it is; every page in its states, wide and narrow, dark and light; rights are respected.
// Pictures go to a folder below the system's temporary directory; with TOOLPLANE_SCREENSHOTS to that one, and then of every page
// and state in all sizes and colours.

import { mkdirSync, readFileSync } from "node:fs";
import { createRequire } from "node:module";
import { join } from "node:path";
import type { Page } from "playwright-core";
import { beforeAll, describe, expect, test } from "vitest";
import { type ConsoleStack, type Faults, logInByToken, openPage } from "./console-stack.ts";
import { findLists, LISTS } from "./lists.ts";

const AXE = readFileSync(createRequire(import.meta.url).resolve("axe-core/axe.min.js"), "utf8");
/** Where a person wants to see pictures. */
const PICTURES = process.env.TOOLPLANE_SCREENSHOTS;
const WIDTHS = [
  ["desktop", 1280, 800],
  ["phone", 390, 844],
] as const;

const refusal = (code: string, message: string, retryable: boolean): object => ({
  error: { code, message, retryable },
});
const ANSWERS = {
  empty: { status: 200, json: { items: [], next_cursor: null } },
  failing: { status: 503, json: refusal("storage_error", "the database does not answer", true) },
  forbidden: { status: 403, json: refusal("auth_failed", "a token of role agent may not do this", false) },
} as const;

let stack: ConsoleStack;
let page: Page;
let faults: Faults;

const MARKUP = "<img src=x onerror=alert(1)><script>alert(2)</script>";
const REVERSED = "safe\u202etxt.exe";
const LONG = "x".repeat(800_000);
/** The plane refuses cards with more than 10,000 different names, so the answer to the page is widened on its way. */
const WIDE = Object.fromEntries(Array.from({ length: 12_000 }, (_, at) => [`key${at}`, at]));

const call = async (args: object, toolName = "echo"): Promise<string> => {
  const body = { tool_name: toolName, arguments: args, wait_seconds: 20 };
  return String((await stack.api("POST", "/projects/demo/calls", body)).tool_call_id);
};
const go = (path: string): Promise<unknown> => page.goto(`${stack.url}${path}`);
const picture = async (name: string): Promise<void> => {
  if (PICTURES !== undefined) await page.screenshot({ path: join(PICTURES, `${name}.png`) });
};
const settled = async (): Promise<void> => {
  await page.locator(".page").waitFor();
  await page.locator(".loading").first().waitFor({ state: "detached" });
};

interface AxeResults {
  readonly violations: readonly {
    readonly id: string;
    readonly impact: string;
    readonly nodes: readonly { html: string }[];
  }[];
}

/** What axe calls serious or critical, one line for each. */
const seriousFaults = async (rules?: readonly string[]): Promise<readonly string[]> => {
  if (!(await page.evaluate("'axe' in window"))) await page.evaluate(AXE);
  const options = { resultTypes: ["violations"], ...(rules === undefined ? {} : { runOnly: rules }) };
  const { violations } = (await page.evaluate(`axe.run(document, ${JSON.stringify(options)})`)) as AxeResults;
  return violations
    .filter(({ impact }) => impact === "serious" || impact === "critical")
    .map(({ id, nodes }) => `${id}: ${nodes[0]?.html.slice(0, 200)}`);
};

export const safetyTests = (shared: () => ConsoleStack): void => {
  beforeAll(async () => {
    if (PICTURES !== undefined) mkdirSync(PICTURES, { recursive: true });
    stack = shared();
    const context = await stack.browser.newContext({ viewport: { width: 1280, height: 800 }, reducedMotion: "reduce" });
    ({ page, faults } = await openPage(stack, context));
  });

  describe("the console shows foreign text safely", () => {
    test("a pasted token logs in; a wrong one says what to do", async () => {
      await page.goto(stack.url);
      await page.getByLabel("Token").fill("wrong");
      await page.getByRole("button", { name: "Log in" }).click();
      await page.getByRole("alert").waitFor();
      await picture("login-failing");
      await logInByToken(stack, page);
    });

    test("[SEC-11-3] markup is text, hidden characters are marks, and nothing of it runs", async () => {
      const id = await call({ markup: MARKUP, reversed: REVERSED, link: "https://example.com/" });
      await go(`/p/demo/calls/${id}`);
      await page.getByText(MARKUP).first().waitFor();
      expect(await page.locator(".value img, .value script, .value a").count()).toBe(0);
      expect(await page.locator(".value .mark").first().textContent()).toBe("RLO");
      const answer = await fetch(stack.url, { headers: { accept: "text/html" } });
      const policy = answer.headers.get("content-security-policy") ?? "";
      expect(policy).toContain("script-src 'self'");
      expect(policy).not.toContain("unsafe");
    });

    test("[SEC-11-3] a tool named like markup is refused in plain words; its title and description are text", async () => {
      const subject = "cg.v1r4.{project_id}.{channel_id}.cmd.tool.markup.run";
      const definition = { target_subject: subject, after_execution: "suspend", parameters: { type: "object" } };
      const named = { ...definition, tool_name: MARKUP, description: "x" };
      const refused = await fetch(`${stack.url}/projects/demo/tools`, {
        method: "POST",
        headers: { authorization: `Bearer ${stack.token}`, "content-type": "application/json" },
        body: JSON.stringify(named),
      });
      expect([refused.status, refused.headers.get("content-type")]).toEqual([400, "application/json"]);
      // A page about a name that the registry never had.
      await go(`/p/demo/tools/${encodeURIComponent(MARKUP)}`);
      await page.getByRole("alert").waitFor();
      await page.getByRole("heading", { name: /<img src=x/ }).waitFor();
      await picture("safety-name");
      const told = {
        ...definition,
        tool_name: "markup",
        description: MARKUP,
        options: { title: MARKUP },
      };
      await stack.api("POST", "/projects/demo/tools", told);
      await go("/p/demo/tools/markup");
      await page.locator(".description").getByText(MARKUP).waitFor();
      await go("/p/demo/tools");
      await page.locator(".row-text").getByText(MARKUP).first().waitFor();
      expect(await page.locator("main img, main script").count()).toBe(0);
      await page.keyboard.press("Control+k");
      await page.keyboard.type("markup");
      await page.getByRole("dialog").getByText("markup").first().waitFor();
      expect(await page.locator("dialog img, dialog script").count()).toBe(0);
      await page.keyboard.press("Escape");
    });

    test("the views of a result are shown as the tool made them, and a large card by pages", async () => {
      const made = await stack.api("POST", "/projects/demo/calls", { tool_name: "markup", arguments: {} });
      const claimed = await stack.api("POST", "/projects/demo/tool-services/markup/claim", { wait_seconds: 20 });
      const [command] = claimed.commands as unknown as readonly { readonly lease: { readonly id: string } }[];
      const id = String(made.tool_call_id);
      const views = { preview: 'search "cats"', display: { headline: MARKUP, hits: [1, 2] }, model: "two hits" };
      const result = { lease: command?.lease.id, status: "success", result: { rows: ["a", "b"], long: LONG }, views };
      await stack.api("POST", `/projects/demo/calls/${id}/result`, result);
      await go(`/p/demo/calls/${id}`);
      await page.locator(".preview").getByText('search "cats"').waitFor();
      await page.locator(".display").getByText(MARKUP).waitFor();
      expect(await page.locator(".display img").count()).toBe(0);
      await picture("views-display");
      await page.getByRole("button", { name: "What the model reads" }).click();
      await page.locator(".value").getByText("two hits").waitFor();
      await page.getByRole("button", { name: "Result", exact: true }).click();
      await page.locator(".json-key").getByText("rows").waitFor();
      await page.locator('a[href^="/p/demo/cards/"]').last().click();
      await page.getByText(/characters 1 to 65,536 of 800,/).waitFor();
      await picture("card-pages");
      await page.getByRole("button", { name: "Next page" }).click();
      await page.getByText(/characters 65,537 to 131,072/).waitFor();
      await page.goBack();
      await page.locator('a[href^="/p/demo/cards/"]').first().click();
      await page.getByRole("heading", { name: /Card tool.call/ }).waitFor();
    });

    test("a text of 800 kB and twelve thousand keys cost a page of them", async () => {
      const id = await call({ long: LONG, wide: {} });
      const answers = `${stack.url}/projects/demo/calls/${id}`;
      await page.route(answers, async (route) => {
        const response = await route.fetch();
        const body = (await response.json()) as { readonly arguments: object };
        await route.fulfill({ response, json: { ...body, arguments: { ...body.arguments, wide: WIDE } } });
      });
      await go(`/p/demo/calls/${id}`);
      await page
        .getByRole("button", { name: /more characters/ })
        .first()
        .waitFor();
      await page.getByRole("button", { name: "Open wide" }).first().click();
      await page.getByRole("button", { name: "11,900 more" }).first().waitFor();
      expect(await page.locator("*").count()).toBeLessThan(3_000);
      await page.unroute(answers);
    });
  });

  describe("every page", () => {
    const places = new Map<string, string>();

    beforeAll(async () => {
      const failed = await call({ message: "the printer is on fire" }, "fail");
      const pay = {
        tool_name: "pay",
        description: "Pay an invoice",
        target_subject: "cg.v1r4.{project_id}.{channel_id}.cmd.tool.bundled.echo",
        after_execution: "suspend",
        parameters: { type: "object", properties: { amount: { type: "number" }, to: { type: "string" } } },
        options: { approval: "required" },
      };
      await stack.api("POST", "/projects/demo/tools", pay);
      const body = { tool_name: "pay", arguments: { amount: 120, to: "Printworks" } };
      await stack.api("POST", "/projects/demo/calls", body);
      for (let at = 0; at < 12; at += 1) await call({ text: `line ${at} of a text` }, "word_count");
      const turn = await stack.api("POST", "/projects/demo/agents/helper/turns", {
        instruction: "look at this together",
        wait_seconds: 30,
      });
      places.set("now", "/p/demo");
      places.set("call", `/p/demo/calls/${failed}`);
      places.set("turn", `/p/demo/turns/${turn.agent_turn_id}`);
      places.set("trace", `/p/demo/traces/${turn.trace_id}`);
      for (const name of ["turns", "tools", "agents", "approvals", "dead-letters", "services", "audit"])
        places.set(name, `/p/demo/${name}`);
      places.set("tool", "/p/demo/tools/word_count");
      places.set("agent", "/p/demo/agents/helper");
      places.set("tokens", "/access");
      places.set("projects", "/projects-list");
      places.set("lost", "/p/demo/nothing");
    });

    test("[CON-pages] fits a desktop and a phone, dark and light, and axe finds nothing serious", async () => {
      const found: string[] = [];
      for (const [name, path] of places) {
        await page.setViewportSize({ width: 1280, height: 800 });
        await go(path);
        await settled();
        if (name === "turn" || name === "trace") await page.locator(".graph-node").first().waitFor();
        for (const colorScheme of ["dark", "light"] as const) {
          await page.emulateMedia({ colorScheme });
          for (const [device, width, height] of WIDTHS) {
            await page.setViewportSize({ width, height });
            const tooWide = Number(await page.evaluate("document.documentElement.scrollWidth - window.innerWidth"));
            if (tooWide > 0) found.push(`${name} on a ${device} is ${tooWide} px too wide`);
            await picture(`${name}-${device}-${colorScheme}`);
          }
          for (const fault of await seriousFaults(colorScheme === "dark" ? undefined : ["color-contrast"]))
            found.push(`${name} ${colorScheme} ${fault}`);
        }
      }
      expect(found).toEqual([]);
    });

    test("[CON-states] every list is loading, empty, failing and forbidden in words, with what to do next", async () => {
      const { names, undrawn } = findLists();
      expect(undrawn).toEqual([]);
      expect(Object.values(LISTS).flatMap(Object.keys).toSorted()).toEqual(names.toSorted());
      await page.setViewportSize({ width: 1280, height: 800 });
      for (const [place, lists] of Object.entries(LISTS)) {
        const ready = Promise.withResolvers<void>();
        let answer: (typeof ANSWERS)[keyof typeof ANSWERS] = ANSWERS.empty;
        const patterns = Object.values(lists).map((asked) => new RegExp(`^${stack.url}${asked}(\\?|$)`));
        for (const pattern of patterns)
          await page.route(pattern, async (route) => {
            await ready.promise;
            // The page may have gone on meanwhile.
            await route.fulfill(answer).catch(() => undefined);
          });
        const shows = async (state: string, inside: string, again?: string): Promise<void> => {
          for (const list of Object.keys(lists)) {
            const box = page.locator(`[data-list="${list}"]`);
            if (again !== undefined) await box.getByRole("button", { name: again }).click();
            await box.locator(inside).first().waitFor();
            await box.locator(inside).first().scrollIntoViewIfNeeded();
            await picture(`state-${list.replaceAll(" ", "-")}-${state}`);
          }
        };
        await go(place);
        await shows("loading", ".loading");
        ready.resolve();
        await shows("empty", ".empty h2 + p");
        answer = ANSWERS.failing;
        await go(place);
        await shows("failing", ".empty [role=alert]:has-text('the database does not answer')");
        answer = ANSWERS.forbidden;
        await shows("forbidden", ".empty [role=alert]:has-text('a token of role agent')", "Try again");
        for (const pattern of patterns) await page.unroute(pattern);
      }
    });

    test("[CON-rights] a viewer looks and is offered no act", async () => {
      const token = String((await stack.api("POST", "/tokens", { role: "viewer", project_id: "demo" })).token);
      const context = await stack.browser.newContext({ viewport: { width: 1280, height: 800 } });
      const viewer = await openPage(stack, context);
      await logInByToken(stack, viewer.page, token);
      await viewer.page.getByRole("heading", { name: "Now" }).waitFor();
      expect(await viewer.page.getByRole("link", { name: "Tokens" }).count()).toBe(0);
      expect(await viewer.page.getByRole("link", { name: "Audit" }).count()).toBe(0);
      await viewer.page.goto(`${stack.url}/p/demo/approvals`);
      await viewer.page.getByText("An operator decides about it.").waitFor();
      expect(await viewer.page.getByRole("button", { name: "Approve" }).count()).toBe(0);
      await viewer.page.goto(`${stack.url}/p/demo/audit`);
      await viewer.page.getByRole("heading", { name: "You may not see the audit" }).waitFor();
      expect(viewer.faults).toEqual([]);
      await context.close();
    });

    test("nothing was asked of another host, no script failed, no rule of the policy was broken", () => {
      expect(faults).toEqual([]);
    });
  });
};
