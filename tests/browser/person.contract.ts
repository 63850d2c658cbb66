// What a person does in the console, against the real stack: one server, one browser, one page.

import type { Page } from "playwright-core";
import { beforeAll, describe, expect, test } from "vitest";
import { type ConsoleStack, type Faults, openPage } from "./console-stack.ts";

let stack: ConsoleStack;
let page: Page;
let faults: Faults;

const tool = (name: string, more: object): object => ({
  tool_name: name,
  description: `${name}, for a test`,
  target_subject: "cg.v1r4.{project_id}.{channel_id}.cmd.tool.bundled.echo",
  after_execution: "suspend",
  parameters: { type: "object", properties: { amount: { type: "number" } } },
  ...more,
});

const call = async (toolName: string, args: object, wait = 0): Promise<string> => {
  const body = { tool_name: toolName, arguments: args, wait_seconds: wait };
  return String((await stack.api("POST", "/projects/demo/calls", body)).tool_call_id);
};

const go = (path: string): Promise<unknown> => page.goto(`${stack.url}/p/demo${path}`);
const named = (role: "button" | "link" | "heading", name: string | RegExp) => page.getByRole(role, { name });
const shown = (text: string | RegExp): Promise<void> => page.getByText(text).first().waitFor();

/** What a person does, in order: the first page is the one that the link opens, and the last act is to log out. */
export const personTests = (shared: () => ConsoleStack): void => {
  beforeAll(async () => {
    stack = shared();
    const context = await stack.browser.newContext({ viewport: { width: 1280, height: 800 }, reducedMotion: "reduce" });
    ({ page, faults } = await openPage(stack, context));
  });

  describe("a person in the console", () => {
    test("[ARCH-10-5] the link that `up` prints logs the browser in, once; nothing secret stays in the address", async () => {
      await page.goto(stack.link);
      await named("heading", "Now").waitFor();
      expect(new URL(page.url())).toMatchObject({ pathname: "/p/demo", hash: "" });
      const [cookie] = await page.context().cookies();
      expect(cookie).toMatchObject({ httpOnly: true, sameSite: "Strict" });
      const other = await stack.browser.newContext();
      const again = await other.newPage();
      await again.goto(stack.link);
      await again.getByLabel("Token").waitFor();
      await other.close();
    });

    test("the first call is one click away, and its page says what happened", async () => {
      await named("button", "Call echo").click();
      await named("heading", /Call echo/).waitFor();
      await shown("world");
      await named("heading", "Timeline").waitFor();
      await shown(/attempt 1 runs/);
      expect(await page.title()).toMatch(/^Call echo.* - Toolplane$/);
    });

    test("[ARCH-10-1] a call arrives while the page is open, and opens", async () => {
      await named("link", "Now").click();
      const id = await call("word_count", { text: "one two" }, 10);
      const row = page.locator(`a[href="/p/demo/calls/${id}"]`);
      await row.waitFor();
      await row.getByText("success").waitFor();
      await row.click();
      await named("heading", /Call word_count/).waitFor();
    });

    test("[ARCH-10-3] a slow call says why it is there, shows its parts, and is canceled", async () => {
      const id = await call("sleep", { seconds: 600, parts: 1000 });
      await go(`/calls/${id}`);
      await named("heading", "Why it is here").waitFor();
      await shown(/runs it|is running|runs at/i);
      await named("heading", "While it runs").waitFor();
      await named("button", "Cancel").click();
      await page.getByLabel("Reason").fill("it takes too long");
      await named("button", "Cancel the call").click();
      await page.locator(".lead").getByText("canceled").waitFor();
      expect(await stack.api("GET", `/projects/demo/calls/${id}`)).toMatchObject({ status: "canceled" });
    });

    test("[ARCH-10-4] a call that needs approval is approved with a reason, another denied", async () => {
      // The bundled sleep, which now needs a person.
      const sleep = "cg.v1r4.{project_id}.{channel_id}.cmd.tool.bundled.sleep";
      const parameters = { type: "object", properties: { seconds: { type: "number" } } };
      await stack.api(
        "POST",
        "/projects/demo/tools",
        tool("sleep", { target_subject: sleep, parameters, options: { approval: "required" } }),
      );
      await go("/approvals");
      await named("heading", "No call waits for you").waitFor();
      const id = await call("sleep", { seconds: 0.25 });
      await shown("0.25");
      await named("button", "Approve").click();
      await page.getByLabel("Reason").fill("it is agreed");
      await page.getByRole("dialog").getByRole("button", { name: "Approve" }).click();
      await named("heading", "No call waits for you").waitFor();
      expect(await stack.api("GET", `/projects/demo/calls/${id}?wait_seconds=20`)).toMatchObject({ status: "success" });
      const denied = await call("sleep", { seconds: 0.5 });
      await named("button", "Deny").click();
      await page.getByRole("dialog").getByRole("button", { name: "Deny" }).click();
      await named("heading", "No call waits for you").waitFor();
      expect(await stack.api("GET", `/projects/demo/calls/${denied}`)).toMatchObject({ error_code: "approval_denied" });
    });

    test("[ARCH-10-2] a turn is started and watched: cards, lanes, graph, deliverable", async () => {
      await go("/agents/helper");
      await page.getByRole("textbox", { name: "Task" }).fill("count this as a team");
      await named("button", "Start").click();
      await named("heading", /Turn helper/).waitFor();
      await shown(/Two readers say: 5 words/);
      await shown("Two readers will look at it.");
      await page.locator(".lane-bar").first().waitFor();
      const graph = page.getByRole("group", { name: /came of this turn/ });
      await expect.poll(() => graph.getByRole("link", { name: /^turn / }).count()).toBe(3);
      const before = await graph.locator("> g").getAttribute("transform");
      await named("button", "Zoom in").click();
      expect(await graph.locator("> g").getAttribute("transform")).not.toBe(before);
      await named("button", "Whole").click();
      await graph.getByRole("link", { name: /^call fork_join/ }).click();
      await named("heading", /Call fork_join/).waitFor();
      await page.locator('a[href^="/p/demo/traces/"]').click();
      await named("heading", /Trace/).waitFor();
      await expect.poll(() => page.locator(".tree").getByRole("link", { name: /^turn/ }).count()).toBe(3);
      // Agents that were made for the task have names there too, not ids.
      await named("link", "Now").click();
      await page
        .locator(".call-agent")
        .getByText(/^reader-/)
        .first()
        .waitFor();
    });

    test("a tool is tried by its form, with a bad and with a good value", async () => {
      await go("/tools/word_count");
      await page.getByRole("textbox", { name: "text" }).fill("a b a");
      await page.getByRole("textbox", { name: "top_k" }).fill("many");
      await named("button", "Call it").click();
      await shown("Write a number, such as 3 or 0.5.");
      await page.getByRole("textbox", { name: "top_k" }).fill("1");
      await named("button", "Call it").click();
      await page.getByRole("status").getByText("success").waitFor();
    });

    test("the form sends what was typed: a doubled member is refused, and a call counts before any event of it", async () => {
      await stack.api("POST", "/projects/demo/tools", tool("typed", { parameters: { type: "object" } }));
      await page.route("**/projects/demo/events*", (route) => route.abort());
      await go("/tools/typed");
      await shown("It was not called yet.");
      const whole = page.getByRole("textbox", { name: "Arguments" });
      await whole.fill('{"amount": 1, "amount": 2}');
      await named("button", "Call it").click();
      await shown(/names a member of an object twice: send it once/);
      await whole.fill('{"amount": 1.50}');
      const sent = page.waitForRequest((request) => request.method() === "POST");
      await named("button", "Call it").click();
      expect((await sent).postData()).toBe('{"tool_name":"typed","arguments":{"amount": 1.50}}');
      await page.getByText("It was not called yet.").waitFor({ state: "detached" });
      await page.unroute("**/projects/demo/events*");
    });

    test("an address of a project that does not exist says so, and leads to one that does", async () => {
      await page.goto(`${stack.url}/p/dmeo`);
      await named("heading", "There is no such project").waitFor();
      await page.getByRole("main").getByRole("link", { name: "demo", exact: true }).click();
      await named("heading", "Now").waitFor();
    });

    test("a dead letter is looked at and replayed", async () => {
      const orphan = "cg.v1r4.{project_id}.{channel_id}.cmd.tool.nowhere.run";
      await stack.api(
        "POST",
        "/projects/demo/tools",
        tool("orphan", { target_subject: orphan, options: { queue_timeout_seconds: 1 } }),
      );
      await go("/dead-letters");
      await named("heading", "Nothing was given up").waitFor();
      await call("orphan", {});
      await shown("queue_timeout");
      await named("button", "Replay").click();
      await shown("Sent again");
    });

    test("a changed definition is read and accepted", async () => {
      await stack.api("POST", "/projects/demo/tools", tool("pay", { options: { approval: "required" } }));
      const answer = await fetch(`${stack.url}/projects/demo/tools`, {
        method: "POST",
        headers: {
          authorization: `Bearer ${stack.token}`,
          "content-type": "application/json",
          "toolplane-register-as": "service",
        },
        body: JSON.stringify(tool("pay", { description: "pays without asking", options: { approval: "never" } })),
      });
      expect(answer.status).toBe(202);
      await go("/tools/pay");
      await named("heading", "A changed definition waits").waitFor();
      await named("button", /^Accept version/).click();
      await named("heading", "A changed definition waits").waitFor({ state: "detached" });
      expect(await stack.api("GET", "/projects/demo/tools/pay")).toMatchObject({ description: "pays without asking" });
    });

    test("[CON-keys] the keyboard alone is enough", async () => {
      await page.keyboard.press("Control+k");
      await page.keyboard.type("echo");
      await page.keyboard.press("Enter");
      await named("heading", /Tool echo/).waitFor();
      await page.keyboard.press("g");
      await page.keyboard.press("n");
      await named("heading", "Now").waitFor();
      await page.locator(".call-link").first().waitFor();
      await page.keyboard.press("j");
      await page.keyboard.press("j");
      const second = await page.locator('[data-at="1"]').getAttribute("href");
      await page.keyboard.press("Enter");
      await named("heading", "Timeline").waitFor();
      expect(new URL(page.url()).pathname).toBe(second);
      expect(await page.evaluate("document.activeElement.id")).toBe("main");
      await page.keyboard.press("?");
      await page.getByRole("dialog", { name: "Keys" }).waitFor();
      await page.keyboard.press("Escape");
      await page.getByRole("dialog").waitFor({ state: "detached" });
    });

    test("[CON-back] the server is lost and comes back, without loading the page again", async () => {
      await page.keyboard.press("g");
      await page.keyboard.press("n");
      await named("heading", "Now").waitFor();
      await page.evaluate("document.documentElement.dataset.kept = 'yes'");
      await stack.kill();
      await shown(/The server does not answer/);
      await stack.startAgain();
      const id = await call("echo", { back: true }, 10);
      await page.locator(`a[href="/p/demo/calls/${id}"]`).getByText("success").waitFor();
      expect(await page.evaluate("document.documentElement.dataset.kept")).toBe("yes");
    });

    test("logging out ends the session, here and at the server", async () => {
      await named("button", "Log out").click();
      await page.getByLabel("Token").waitFor();
      await go("/tools");
      await page.getByLabel("Token").waitFor();
    });

    test("nothing was asked of another host, no script failed, no rule of the policy was broken", () => {
      expect(faults).toEqual([]);
    });
  });
};
