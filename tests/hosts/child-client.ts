// A parent that speaks to a host by hand: it sends lines, keeps what comes back, and waits for what it looks for.

import { type ExitStatus, spawnGuarded } from "@toolplane/processes";
import { ToolplaneError } from "@toolplane/protocol";
import { programEnv, watchOutput } from "@toolplane/testkit";
import { type Answer, type ChildHost, ROOT } from "./child-hosts.ts";

export interface HostClient extends AsyncDisposable {
  readonly pid: number;
  /** Writes the text as it is. */
  write(text: string): void;
  /** Sends a request without waiting; returns its id. */
  send(method: string, params?: object): string;
  /** Sends a request and waits for its response. */
  ask(method: string, params?: object): Promise<Answer>;
  call(tool: string, args?: object, more?: object): Promise<Answer>;
  answerOf(id: string): Promise<Answer>;
  /** Waits until the predicate sees what it looks for in everything that came. */
  until<T>(found: (lines: readonly Answer[], stderr: string) => T | undefined): Promise<T>;
  lines(): readonly Answer[];
  stderr(): string;
  /** Sends requests one after the other, each when the pipe has taken the one before; returns their ids at once. */
  feed(count: number, method: string, params: object): readonly string[];
  /** Fed requests that the pipe has not taken yet. */
  unsent(): number;
  pauseReading(): void;
  resumeReading(): void;
  endInput(): void;
  /** Closes our end of the host's stdout. */
  closeOutput(): void;
  readonly ended: Promise<ExitStatus>;
}

const PATIENCE_MS = 150_000;

export const callParams = (tool: string, args: object = {}, more: object = {}): object => ({
  tool_name: tool,
  arguments: args,
  state: {},
  ...more,
});

const requestLine = (id: string, method: string, params: object): string =>
  `${JSON.stringify({ v: 1, id, method, params })}\n`;

export const startClient = async (argv: readonly string[]): Promise<HostClient> => {
  const guarded = await spawnGuarded(argv, {
    label: argv.join(" ").slice(0, 80),
    env: { ...programEnv(), PYTHONDONTWRITEBYTECODE: "1" },
    cwd: ROOT,
    stdio: ["pipe", "pipe", "pipe"],
    graceMs: 1_000,
  });
  const { stdin, stdout, stderr } = guarded.child;
  if (stdin === null || stdout === null || stderr === null) throw new ToolplaneError("internal_error", "no pipes");
  const lines: Answer[] = [];
  let pieces: string[] = [];
  let errors = "";
  let count = 0;
  let unsent = 0;
  const nextId = (): string => {
    count += 1;
    return `q${count}`;
  };
  const watch = watchOutput(() => `${JSON.stringify(lines.slice(-5)).slice(0, 2000)} ${errors}`);
  stdout.setEncoding("utf8").on("data", (text: string) => {
    const parts = text.split("\n");
    pieces.push(parts[0] ?? "");
    for (const part of parts.slice(1)) {
      lines.push(JSON.parse(pieces.join("")) as Answer);
      pieces = [part];
    }
    watch.heard();
  });
  stderr.setEncoding("utf8").on("data", (text: string) => {
    errors += text;
    watch.heard();
  });
  stdin.on("error", () => {});
  guarded.child.once("close", () => {
    watch.over();
  });

  const until = <T>(found: (seen: readonly Answer[], err: string) => T | undefined): Promise<T> =>
    watch.until("what the test looks for", () => found(lines, errors), PATIENCE_MS);

  const client: HostClient = {
    pid: guarded.pid,
    write: (text) => void stdin.write(text),
    send(method, params = {}) {
      const id = nextId();
      stdin.write(requestLine(id, method, params));
      return id;
    },
    answerOf: (id) => until((seen) => seen.find((line) => line.id === id && line.ok !== undefined)),
    ask: (method, params) => client.answerOf(client.send(method, params)),
    call: (tool, args, more) => client.ask("execute_tool", callParams(tool, args, more)),
    until,
    lines: () => lines,
    stderr: () => errors,
    feed(many, method, params) {
      const ids = Array.from({ length: many }, nextId);
      const next = (): void => {
        const id = ids[many - unsent];
        if (id !== undefined) stdin.write(requestLine(id, method, params), next);
        unsent -= 1;
      };
      unsent = many;
      next();
      return ids;
    },
    unsent: () => unsent,
    pauseReading: () => void stdout.pause(),
    resumeReading: () => void stdout.resume(),
    endInput: () => void stdin.end(),
    closeOutput: () => void stdout.destroy(),
    ended: guarded.ended,
    async [Symbol.asyncDispose]() {
      await guarded.end();
    },
  };
  return client;
};

export const startHost = (host: ChildHost, ...options: string[]): Promise<HostClient> =>
  startClient(host.argv("child-plugin", ...options));
