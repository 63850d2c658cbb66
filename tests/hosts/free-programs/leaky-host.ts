// A host that puts its keys everywhere a host can put words. Plain Node, so that it runs wherever it is copied to.

import { createInterface } from "node:readline";

const KEY = process.env.CANARY_KEY ?? "";
const PEM = process.env.CANARY_PEM ?? "";
let given = "";

const write = (message: object): boolean => process.stdout.write(`${JSON.stringify({ v: 1, ...message })}\n`);
const keys = () => ({
  plain: KEY,
  base64: Buffer.from(`user:${KEY}`).toString("base64"),
  hex: Buffer.from(KEY).toString("hex"),
  url: encodeURIComponent(KEY),
  json: JSON.stringify({ KEY }),
  config: given,
  pem: PEM,
  [KEY]: [given],
});

const MODES: Readonly<Record<string, () => object>> = {
  result: () => ({ success: true, result: keys() }),
  refuse: () => ({ success: false, error: `no ${KEY} ${given}` }),
  stray: () => {
    process.stdout.write(`stray ${KEY} ${given}\n${"x".repeat(600)}${KEY}${"y".repeat(170)}${given}\n`);
    return { success: true, result: 1 };
  },
  die: () => {
    process.stderr.write(`dying with ${KEY} and ${given}\n`);
    process.exit(3);
  },
};

const execute = (id: string, { mode }: { readonly mode: string }): boolean => {
  write({ id, event: { type: "part", payload: { text: KEY } } });
  for (const half of [given.slice(0, 9), given.slice(9)]) write({ id, event: { type: "part", payload: half } });
  write({ id, event: { type: "log", payload: { level: "warn", message: `log ${KEY}`, given } } });
  if (mode === "fail") return write({ id, ok: false, error: { type: KEY, detail: `failed ${given}`, stack: KEY } });
  if (mode === "broken") return write({ id, ok: true, result: KEY, [KEY]: given });
  return write({ id, ok: true, result: { value: MODES[mode]?.(), state: { kept: KEY } } });
};

const tool = (name: string, more = {}): object => ({
  name,
  description: `uses ${KEY} and ${given}`,
  parameters: { type: "object", properties: { mode: { type: "string" }, [KEY]: { enum: [KEY, given] } } },
  ...more,
});

interface Params {
  readonly config: { readonly nested?: { readonly key: string }; readonly fails?: string };
  readonly state?: object;
  readonly arguments: { readonly mode: string };
}

const ANSWERS: Readonly<Record<string, (params: Params) => unknown>> = {
  hello: () => ({ extensions: ["log", "cancel", KEY] }),
  get_config_schema: () => ({ type: "object", description: KEY }),
  init: ({ config }) => {
    given = config.nested?.key ?? "";
    return { kept: KEY };
  },
  get_tool_schemas: () => [
    tool("say"),
    tool(KEY),
    tool("odd", { parameters: { type: KEY } }),
    tool("say2", { [KEY]: 1 }),
  ],
  get_tags: () => [KEY, given],
  required_tags: () => [],
  get_ui_elements: () => [{ label: KEY, [given]: 1 }],
  format_tool_result: () => `shown ${KEY}`,
  format_tool_call_preview: () => `calling with ${given}`,
  to_display_format: () => ({ text: KEY }),
};

process.stderr.write(`key ${KEY}\n${PEM}\n`);
createInterface({ input: process.stdin }).on("line", (line) => {
  const { id, method, params } = JSON.parse(line) as { id: string; method: string; params: Params };
  const answer = ANSWERS[method];
  if (method === "init" && params.config.fails) {
    write({ id, ok: false, error: { type: "Refused", detail: `cannot log in with ${KEY} ${params.config.fails}` } });
  } else if (method === "execute_tool") execute(id, params.arguments);
  else if (answer !== undefined) {
    const value = answer(params);
    write({
      id,
      ok: true,
      result: method === "init" || params.state ? { value, state: params.state ?? value } : { value },
    });
  } else write({ id, ok: false, error: { type: "MethodNotFound", detail: KEY } });
});
