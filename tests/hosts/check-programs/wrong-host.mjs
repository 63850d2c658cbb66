// A small host in plain JavaScript that keeps every rule, or breaks exactly the one its argument names.
// @ts-nocheck: it runs without types and without dependencies, so that the check is held against something it shares no code with.

const wrong = process.argv[2] ?? "none";
const is = (name) => wrong === name;

const write = (text) => process.stdout.write(`${text}\n`);
const send = (message) => write(JSON.stringify({ v: is("version-of-lines") ? 2 : 1, ...message }));
const running = new Map();
let agreed = [];
let draining = false;

const failure = (id, type, detail) =>
  send({ id, ok: false, error: is("error-detail") ? { type, detail: { text: detail } } : { type, detail } });

/** Two requests of different kinds that run at once: each gets the other's answer. */
const swaps = new Map();
const swapWithRunning = (id) => {
  const other = [...running.keys()].find((one) => !swaps.has(one));
  if (!is("swaps-answers") || other === undefined) return id;
  swaps.set(other, id);
  return other;
};
let remembered = {};

const answer = (id, value, state) => {
  const result = state === undefined ? { value } : { value, state };
  send({ id, ok: true, result });
  if (is("answers-twice")) send({ id, ok: true, result });
  if (is("late-events")) send({ id, event: { type: "part", payload: 1 } });
};

const SCHEMA = {
  name: "echo",
  description: "Says it again",
  parameters: { type: "object", properties: { text: { type: "string" } } },
};
const EXTENSIONS = ["cancel", "ping", "shutdown", "log", "deadline"];

// Who drops what it works on must still be at work when it is told to go, on a busy machine too.
const WORK_MS = is("drops-last") || is("shutdown-drops") ? 300 : 30;

const execute = async (asked, params) => {
  let id = asked;
  const cancel = Promise.withResolvers();
  running.set(id, cancel);
  const canceled = await Promise.race([cancel.promise, new Promise((resolve) => setTimeout(resolve, WORK_MS))]);
  running.delete(id);
  id = swaps.get(asked) ?? asked;
  if (canceled === true) {
    failure(id, is("cancel-type") ? "Error" : "Canceled", "canceled");
    if (is("canceled-twice")) answer(id, { success: true, result: params.arguments }, params.state);
    return;
  }
  if (is("shares-state")) remembered = params.state = { ...remembered, ...params.state };
  if (agreed.includes("log")) {
    const level = is("log-level") ? "loud" : "info";
    send({ id, event: { type: "log", payload: { level, message: "done" } } });
  }
  if (is("log-unasked") && !agreed.includes("log"))
    send({ id, event: { type: "log", payload: { level: "info", message: "x" } } });
  if (is("deadline") && params.deadline_ms !== undefined) return answer(id, { done: true }, params.state);
  if (params.tool_name !== "echo" && !is("unknown-tool"))
    return answer(id, { success: false, error: "no such tool" }, params.state);
  if (is("no-success") && params.deadline_ms === undefined)
    return answer(id, { echoed: params.arguments }, params.state);
  return answer(id, { success: true, result: params.arguments }, params.state);
};

const OPTIONAL = {
  get_config_schema: () => ({ type: "object" }),
  get_ui_elements: () => [],
  get_tags: () => (is("optional-shape") ? "text" : ["text"]),
  required_tags: () => [],
  format_tool_result: ({ result }) => JSON.stringify(result),
  format_tool_call_preview: ({ tool_name }) => `${tool_name}()`,
  to_display_format: ({ text }) => ({ text }),
};

const isObject = (value) => typeof value === "object" && value !== null && !Array.isArray(value);

let schemaCalls = 0;
const handle = async ({ id, method, params = {} }) => {
  switch (method) {
    case "init":
      return is("init-state") ? answer(id, "ready") : answer(id, { n: 0 }, { n: 0 });
    case "get_tool_schemas":
      schemaCalls += 1;
      if (is("drops-some") && schemaCalls % 7 === 0) return;
      if (is("large") && JSON.stringify(params).length > 100_000) return;
      return answer(
        swapWithRunning(id),
        is("schemas-shape") ? { echo: SCHEMA } : [SCHEMA],
        is("no-state") ? undefined : params.state,
      );
    case "execute_tool":
      if (
        typeof params.tool_name !== "string" ||
        (!isObject(params.arguments) && !(is("any-arguments") && params.arguments))
      )
        return failure(id, is("params-type") ? "TypeError" : "InvalidParams", "tool_name and arguments are needed");
      return execute(id, params);
    case "hello":
      if (is("hello-silent")) return;
      agreed = EXTENSIONS;
      return answer(id, { extensions: is("hello-more") ? [...EXTENSIONS, "teleport"] : EXTENSIONS });
    case "ping":
      return is("ping") ? undefined : answer(id, {});
    case "cancel":
      if (is("cancel-silent")) return;
      running.get(params.id)?.resolve(true);
      return answer(id, {});
    case "shutdown":
      if (is("shutdown-drops")) process.exit(0);
      answer(id, {});
      return is("shutdown-stays") ? undefined : leave();
    default:
      if (Object.hasOwn(OPTIONAL, method)) return answer(id, OPTIONAL[method](params), params.state);
      return failure(id, is("method-type") ? "Error" : "MethodNotFound", `no method ${method}`);
  }
};

const leave = () => {
  draining = true;
  if (running.size > 0) return setTimeout(leave, 5);
  if (is("exit-code") && agreed.length === 0) process.exitCode = 3;
  process.exit();
};

const read = (line) => {
  const text = line.endsWith("\r") && !is("carriage-return") ? line.slice(0, -1) : line;
  let message;
  try {
    if (text.endsWith("\r")) return;
    message = JSON.parse(text);
  } catch {
    return is("parse-silent") ? undefined : failure(null, is("parse-type") ? "SyntaxError" : "ParseError", "not JSON");
  }
  if (is("dies-of-junk") && typeof message === "number") process.exit(1);
  if (typeof message !== "object" || message === null || typeof message.id !== "string")
    return failure(null, "InvalidParams", "a request is an object with an id");
  if (message.v !== 1) return failure(message.id, is("version-type") ? "Error" : "VersionError", "v must be 1");
  if (typeof message.method !== "string" || typeof (message.params ?? {}) !== "object")
    return failure(message.id, "InvalidParams", "a request has a method and params");
  if (is("odd-ids") && !/^[\x20-\x7e]*$/.test(message.id)) return;
  return handle(message);
};

if (is("stray-output")) write("host is starting...");
if (is("no-object")) write("[1,2,3]");
let rest = "";
process.stdin.setEncoding("utf8");
process.stdin.on("data", (chunk) => {
  const lines = (is("pieces") && chunk.length < 1_000 ? chunk : rest + chunk).split("\n");
  rest = lines.pop() ?? "";
  for (const line of lines) void read(line);
});
process.stdin.on("end", () => {
  if (is("stays")) return void setInterval(() => {}, 1_000);
  if (is("drops-last")) process.exit(0);
  if (!draining) leave();
});
