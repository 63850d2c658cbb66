import { UsageError } from "@toolplane/protocol";
import { describe, expect, test } from "vitest";
import { defineTool } from "../tools/define-tool.ts";
import { findPlugin, loadPlugin } from "./load-plugin.ts";

const functions = { getToolSchemas: () => [], executeTool: () => ({ success: true as const }) };
class Plugin {
  readonly made = true;
  getToolSchemas(): [] {
    return [];
  }
  executeTool(): { readonly success: true } {
    return { success: true };
  }
}
const tool = (name: string) => defineTool({ name, description: name, parameters: { type: "object" }, run: () => 1 });

describe("[HOST-3-1] findPlugin", () => {
  test.each<[string, Record<string, unknown>]>([
    ["an object as default export", { default: functions }],
    ["an object under any name", { shop: functions }],
    ["the module's own functions", functions],
  ])("%s", (_name, exports) => {
    expect(findPlugin(exports, "m").executeTool).toBe(functions.executeTool);
  });

  test.each<[string, Record<string, unknown>]>([
    ["a class as default export", { default: Plugin }],
    ["a class under any name", { other: 3, Shop: Plugin }],
    ["a class that inherits its methods", { default: class Sub extends Plugin {} }],
  ])("%s is made once", (_name, exports) => {
    expect(findPlugin(exports, "m")).toMatchObject({ made: true });
  });

  test("the default export comes first", () => {
    expect(findPlugin({ a: functions, default: Plugin }, "m")).toMatchObject({ made: true });
  });

  test("[HOST-3-2] tools of defineTool, one by one or in a list, each once", async () => {
    const [a, b] = [tool("a"), tool("b")];
    const names = async (exports: Record<string, unknown>): Promise<unknown> =>
      (await findPlugin(exports, "m").getToolSchemas({})).map((schema) => "name" in schema && schema.name);
    expect(await names({ a, b, all: [a, b] })).toEqual(["a", "b"]);
    expect(await names({ default: [b] })).toEqual(["b"]);
    expect(await names({ default: a, number: 3 })).toEqual(["a"]);
    expect(() => findPlugin({ a, other: tool("a") }, "m")).toThrow("two tools are named a");
  });

  test.each<[string, Record<string, unknown>, string]>([
    ["nothing", {}, "export an object or a class"],
    ["a function", { default: () => 1 }, "export an object or a class"],
    ["tools nobody could find", { executeTool: functions.executeTool }, "getToolSchemas"],
  ])("%s is a mistake that is explained", (_name, exports, words) => {
    expect(() => findPlugin(exports, "m")).toThrow(UsageError);
    expect(() => findPlugin(exports, "m")).toThrow(words);
  });

  test("[API-7-1] a file that is not there is named", async () => {
    await expect(loadPlugin("./nowhere.ts", "/tmp")).rejects.toThrow("/tmp/nowhere.ts: there is no such file");
  });
});
