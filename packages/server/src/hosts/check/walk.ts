// What is sent to a host, step by step. A host that ends in a step is started again for the next; a step that could not be sent
// is missing from the record and judged as missing.

import { isRecord, type JsonObject, type JsonValue, ToolplaneError } from "@toolplane/protocol";
import { HOST_EXTENSIONS, type HostTool, OPTIONAL_HOST_METHODS, readHostTools } from "@toolplane/protocol/host";
import { sampleArguments } from "../../conform/sample-arguments.ts";
import type { Conversation, HostEvidence } from "./evidence.ts";
import { startTalk, type Talk, type TalkOptions } from "./talk.ts";

export interface WalkOptions extends TalkOptions {
  readonly config: JsonObject;
  /** The tool to try; the first one unless given. */
  readonly tool: string | undefined;
  readonly arguments: JsonObject | undefined;
  readonly onStep: (step: string) => void;
}

export const AT_ONCE = 20;
const LARGE_CHARS = 1024 * 1024;
/** Quotes, a backslash, letters of other alphabets: an id is a text, and comes back as one. */
const ODD_ID = 'ä"\\/ \u{1f600}';

/** Lines that must not end a host; they need no particular answer. */
const BAD_LINES: readonly (string | Buffer)[] = [
  "",
  "   ",
  "null",
  "42",
  "[]",
  '"text"',
  "{}",
  '{"v":1}',
  '{"v":1,"id":"x"}',
  '{"v":1,"id":7,"method":"init","params":{}}',
  '{"v":1,"id":"y","method":"execute_tool","params":7}',
  `${"[".repeat(2_000)}`,
  "x".repeat(200_000),
  Buffer.from([0xff, 0xfe, 0x00, 0x80]),
];

/** A state the host has never seen; a uuid under it comes back only where it was sent. */
export const SESSION_KEY = "check_session";

type Change = Readonly<Record<string, JsonValue | undefined>>;

/** Changes to a good execute_tool, each of which makes it one that must not run. `undefined` leaves the field out. */
const MALFORMED: readonly Change[] = [
  { tool_name: undefined },
  { tool_name: 7 },
  { tool_name: null },
  { arguments: undefined },
  { arguments: null },
  { arguments: "{}" },
  { arguments: [] },
  { arguments: 7 },
];

interface Place {
  readonly state: JsonObject;
  readonly tool: HostTool | undefined;
  readonly arguments: JsonObject;
}

const stateOf = (answer: JsonObject | undefined): JsonObject => {
  const result = answer?.ok === true && isRecord(answer.result) ? answer.result : {};
  const state = isRecord(result.state) ? result.state : result.value;
  return isRecord(state) ? (state as JsonObject) : {};
};

const chooseTool = (tools: readonly HostTool[], { tool, arguments: given }: WalkOptions): Omit<Place, "state"> => {
  const chosen = tool === undefined ? tools[0] : tools.find(({ name }) => name === tool);
  if (tool !== undefined && chosen === undefined)
    throw new ToolplaneError("not_found", `the host has no tool ${tool}`, {
      detail: {
        todo:
          tools.length === 0
            ? "it offers no tools at all; leave --tool out to see why"
            : `name one of its own with --tool: ${tools.map(({ name }) => name).join(", ")}`,
      },
    });
  return { tool: chosen, arguments: given ?? sampleArguments(chosen?.parameters ?? {}).first };
};

export const walkHost = async (options: WalkOptions): Promise<HostEvidence> => {
  const conversations: Conversation[] = [];
  const { config } = options;
  let talk: Talk | undefined;
  let place: Place = { state: {}, tool: undefined, arguments: {} };
  let answered = false;

  const leave = async (): Promise<void> => {
    if (talk === undefined) return;
    conversations.push(talk.record());
    await talk[Symbol.asyncDispose]();
    talk = undefined;
  };

  /** The process that is there, or a new one that has been told to init. */
  const present = async (): Promise<Talk> => {
    if (talk?.isAlive() === true) return talk;
    await leave();
    talk = await startTalk(options);
    const first = conversations.length === 0;
    const answer = await talk.ask(first ? "init" : "init-again", { method: "init", params: { config } });
    answered ||= answer !== undefined;
    place = { ...place, state: stateOf(answer) };
    return talk;
  };

  const step = async (name: string, work: (talk: Talk) => Promise<unknown>): Promise<void> => {
    options.onStep(name);
    await work(await present());
  };

  const schemas = (): { method: string; params: JsonObject } => ({
    method: "get_tool_schemas",
    params: { state: place.state },
  });
  const execute = (more: Change = {}): { method: string; params: JsonObject } => ({
    method: "execute_tool",
    params: {
      tool_name: place.tool?.name ?? "",
      arguments: place.arguments,
      state: place.state,
      ...more,
    } as JsonObject,
  });
  const optionalParams = (method: string): JsonObject => {
    const about = { tool_name: place.tool?.name ?? "x", arguments: place.arguments, state: place.state };
    const result = { result: { success: true, result: "a result" }, state: place.state };
    switch (method) {
      case "get_tags":
        return { config, models: [] };
      case "format_tool_result":
        return result;
      case "format_tool_call_preview":
        return about;
      case "to_display_format":
        return { ...result, text: "a text" };
      default:
        return {};
    }
  };

  const tools = (): Promise<void> =>
    step("the tools", async (host) => {
      const answer = await host.ask("schemas", schemas());
      answered ||= answer !== undefined;
      const value = answer?.ok === true && isRecord(answer.result) ? answer.result.value : [];
      place = { ...place, ...chooseTool(readHostTools((value ?? []) as never).tools, options) };
    });

  const ordinary = async (): Promise<void> => {
    if (place.tool !== undefined) await step("a call", (host) => host.ask("execute", execute()));
    await step("a tool that is not there", (host) =>
      host.ask("unknown-tool", execute({ tool_name: "no_such_tool_here", arguments: {} })),
    );
    for (const method of OPTIONAL_HOST_METHODS)
      await step(method, (host) => host.ask("optional", { method, params: optionalParams(method) }));
  };

  /** Two kinds at once, so that an answer under a wrong id shows by its kind; then a session that another must not see. */
  const identity = async (): Promise<void> => {
    if (place.tool === undefined) return;
    await step("two kinds at once", async (host) => {
      const ids = [execute(), schemas(), execute(), schemas()].map((ask) => host.begin("mixed", ask));
      await Promise.all(ids.map((id) => host.answerTo(id)));
    });
    await step("two sessions", async (host) => {
      const state = { ...place.state, [SESSION_KEY]: options.uuid() };
      await host.ask("session", execute({ state }));
      await host.ask("other-session", execute());
      await host.ask("other-session", schemas());
    });
  };

  const malformed = async (): Promise<void> => {
    if (place.tool === undefined) return;
    await step("malformed calls", async (host) => {
      for (const change of MALFORMED) host.begin("malformed", execute(change));
      host.begin("malformed", { ...execute(), v: 2 });
      // As long as an ordinary call takes, so that whatever runs has been answered.
      await host.ask("after-malformed", execute());
    });
  };

  const faults = async (): Promise<void> => {
    await step("an unknown method", (host) => host.ask("unknown-method", { method: "no_such_method" }));
    await step("a line that is not JSON", (host) => host.line("not-json", "this is not JSON"));
    await step("another version", (host) => host.ask("version", { ...schemas(), v: 2 }));
    await step("missing fields", (host) =>
      host.ask("missing", { method: "execute_tool", params: { state: place.state } }),
    );
    await step("bad lines", async (host) => {
      for (const bad of BAD_LINES) await host.line("bad", bad, false);
      await host.ask("after-bad", schemas());
    });
  };

  const lines = async (): Promise<void> => {
    await step("a carriage return", (host) => host.ask("carriage-return", { ...schemas(), end: "\r\n" }));
    await step("a line in pieces", (host) => host.inPieces("pieces", schemas()));
    await step("an odd id", (host) => host.ask("odd-id", { ...schemas(), id: ODD_ID }));
    await step("a megabyte", (host) =>
      host.ask("large", {
        method: "get_tool_schemas",
        params: { state: { ...place.state, filler: "x".repeat(LARGE_CHARS) } },
      }),
    );
    await step("many at once", async (host) => {
      const ids = Array.from({ length: AT_ONCE }, () => host.begin("at-once", schemas()));
      await Promise.all(ids.map((id) => host.answerTo(id)));
    });
  };

  const end = (): Promise<void> =>
    step("the end of stdin", async (host) => {
      if (place.tool !== undefined) host.begin("last", execute());
      else host.begin("last", schemas());
      await host.farewell(true);
    });

  const extended = async (): Promise<void> => {
    await leave();
    options.onStep("hello");
    talk = await startTalk(options);
    const answer = await talk.ask("hello", { method: "hello", params: { extensions: [...HOST_EXTENSIONS] } });
    const value = answer?.ok === true && isRecord(answer.result) ? answer.result.value : undefined;
    const given = isRecord(value) && Array.isArray(value.extensions) ? value.extensions.map(String) : [];
    const agreed = HOST_EXTENSIONS.filter((name) => given.includes(name));
    talk.agree(agreed);
    if (agreed.length === 0 || !talk.isAlive()) return;
    place = { ...place, state: stateOf(await talk.ask("init-again", { method: "init", params: { config } })) };
    const call = place.tool === undefined ? schemas() : execute();
    if (agreed.includes("deadline") && place.tool !== undefined)
      await talk.ask("deadline", execute({ deadline_ms: options.timeoutMs }));
    if (agreed.includes("ping")) {
      const running = talk.begin("beside", call);
      await talk.ask("ping", { method: "ping" });
      await talk.answerTo(running);
    }
    if (agreed.includes("cancel")) {
      await talk.ask("cancel-unknown", { method: "cancel", params: { id: "nobody asked this" } });
      const running = talk.begin("canceled", call);
      await talk.ask("cancel", { method: "cancel", params: { id: running } });
      await talk.answerTo(running);
      // As long as the canceled call would have taken.
      await talk.ask("after-cancel", call);
    }
    if (agreed.includes("shutdown")) {
      talk.begin("last-before-shutdown", call);
      talk.begin("shutdown", { method: "shutdown" });
      await talk.farewell(false);
    }
  };

  try {
    await tools();
    // The host runs and gives no answer: waiting for every other rule would take minutes.
    if (!answered && talk?.isAlive() === true) return { conversations: [...conversations, talk.record()] };
    await ordinary();
    await lines();
    await identity();
    await malformed();
    await faults();
    await end();
    await extended();
  } finally {
    await leave();
  }
  return { conversations };
};
