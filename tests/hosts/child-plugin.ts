// A plugin that does everything a plugin may do, and much it should not. child-plugin.py is the same in Python: one table of
// requests and answers is held against both.

import { spawnSync } from "node:child_process";
import { writeSync } from "node:fs";

class ShopClosed extends Error {}

interface Call {
  readonly toolName: string;
  readonly arguments: Record<string, unknown>;
  readonly state: Record<string, unknown>;
  readonly emit: (part: unknown) => Promise<void> | undefined;
  readonly signal: AbortSignal;
  readonly deadlineMs: number | undefined;
  readonly log: { info(message: string, fields?: object): void };
}

const aborted = (signal: AbortSignal): Promise<void> =>
  new Promise((resolve) => {
    if (signal.aborted) resolve();
    else signal.addEventListener("abort", () => resolve(), { once: true });
  });

/** Calls that wait for each other: nobody passes before so many have come. */
const arrivals = new Map<string, { count: number; open: (() => void)[] }>();
const meet = async (name: string, party: number): Promise<void> => {
  const place = arrivals.get(name) ?? { count: 0, open: [] };
  arrivals.set(name, place);
  place.count += 1;
  if (place.count === party) for (const open of place.open) open();
  else await new Promise<void>((resolve) => place.open.push(resolve));
};

const printEverywhere = (): void => {
  // biome-ignore lint/suspicious/noConsole: what a host must keep out of the protocol
  console.log("stray console");
  process.stdout.write("stray stream\n");
  writeSync(1, "stray descriptor\n");
  try {
    spawnSync("echo", ["stray child"], { stdio: "inherit" });
  } catch {
    // A sandbox forbids children.
  }
};

const fallInTimer = async (): Promise<never> => {
  setTimeout(() => {
    throw new ShopClosed("fell in a timer");
  }, 1);
  return new Promise(() => {});
};

const tools: Record<string, (call: Call) => unknown> = {
  echo: ({ arguments: given }) => ({ success: true, result: given }),
  nothing: () => ({ success: true }),
  refuse: () => ({ success: false, error: "sold out" }),
  throw: () => {
    throw new ShopClosed("we are closed");
  },
  bad_shape: () => ({ words: 3 }),
  not_json: () => ({ success: true, result: { list: [1, { of: new Set([1]) }] } }),
  not_a_number: () => ({ success: true, result: [Number.NaN] }),
  bad_state: ({ state }) => {
    state.kept = new Set([1]);
    return { success: true };
  },
  count: ({ state }) => {
    state.count = Number(state.count ?? 0) + 1;
    return { success: true, result: state.count };
  },
  replace: () => ({ success: true, result: 1, state: { fresh: true } }),
  later: async ({ arguments: given }) => {
    await new Promise((resolve) => setImmediate(resolve));
    return { success: true, result: given };
  },
  parts: async ({ emit, arguments: { count } }) => {
    for (let part = 0; part < Number(count); part++) await emit({ part });
    void emit({ type: "part", payload: "whole event" });
    return { success: true, result: "done" };
  },
  bad_part: ({ emit }) => {
    void emit(new Set([1]));
    void emit("good");
    return { success: true };
  },
  print: () => {
    printEverywhere();
    return { success: true, result: "printed" };
  },
  log: ({ log }) => {
    log.info("looked", { at: "shelf" });
    return { success: true };
  },
  exit: () => process.exit(3),
  fall: fallInTimer,
  meet: async ({ emit, arguments: { name, party, says } }) => {
    if (says !== undefined) void emit(says);
    await meet(String(name), Number(party));
    return { success: true, result: party };
  },
  until_aborted: async ({ signal }) => {
    await aborted(signal);
    return { success: true, result: "too late to count" };
  },
  deadline: async ({ signal, deadlineMs }) => {
    await aborted(signal);
    throw new ShopClosed(`after ${deadlineMs}`);
  },
  /** The most it has ever had, in bytes. */
  memory: () => ({ success: true, result: process.resourceUsage().maxRSS * 1024 }),
  big: ({ log, arguments: { bytes } }) => {
    const result = "x".repeat(Number(bytes));
    log.info("made");
    return { success: true, result };
  },
  flood: ({ emit, arguments: { count, bytes } }) => {
    for (let part = 0; part < Number(count); part++) void emit("y".repeat(Number(bytes)));
    return { success: true, result: "flooded" };
  },
};

export class ChildPlugin {
  init(config: Record<string, unknown>): object {
    if (config.broken === true) throw new ShopClosed("no such shop");
    return { count: 0, ...config };
  }

  getToolSchemas(state: Record<string, unknown>): object[] {
    state.asked = true;
    return [
      { name: "echo", description: "Gives back what it got", parameters: { type: "object" } },
      { type: "function", function: { name: "count", parameters: { type: "object" } } },
    ];
  }

  executeTool(call: Call): unknown {
    const tool = tools[call.toolName];
    return tool === undefined ? { success: false, error: `there is no tool ${call.toolName}` } : tool(call);
  }

  getConfigSchema(): object {
    return { type: "object", properties: { broken: { type: "boolean" } } };
  }

  getUiElements(): object[] {
    return [{ id: "shelf" }];
  }

  getTags({ config, models }: { config: object; models: object[] }): string[] {
    return ["shop", ...Object.keys(config), `models:${models.length}`];
  }

  requiredTags(): string[] {
    return ["tools"];
  }

  formatToolResult({ result, state }: { result: unknown; state: Record<string, unknown> }): unknown {
    state.formatted = true;
    const native = { type: "provider_native_tool_result", format: "openai.responses", output: [] };
    return result === "native" ? native : `result: ${JSON.stringify(result)}`;
  }

  formatToolCallPreview({ toolName, arguments: given }: { toolName: string; arguments: object }): string {
    return `${toolName} with ${Object.keys(given).join(", ")}`;
  }

  toDisplayFormat({ text, result }: { text: string; result: unknown }): object {
    return { title: text, body: result };
  }
}
