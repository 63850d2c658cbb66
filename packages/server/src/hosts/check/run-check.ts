// `toolplane host check -- CMD...`: drives a tool host, of any language, through the rules of the protocol and says, rule by
// rule, whether it keeps them. Exit code 0: nothing failed; 1: a rule failed; 2: wrong usage; 3: the host never answered.

import { isRecord, type JsonObject } from "@toolplane/protocol";
import type { CliIo } from "../../cli/io.ts";
import { createOutput, type Output } from "../../cli/output.ts";
import { WrongUsage } from "../../cli/wrong-usage.ts";
import { createLastWords, setVariables } from "../../conform/launch-command.ts";
import { countVerdicts, formatCounts, formatVerdicts } from "../../conform/verdict-lines.ts";
import type { HostClause } from "./clauses.ts";
import { isAnswer } from "./evidence.ts";
import { type JudgedHostClause, judgeHost } from "./judges/index.ts";
import { walkHost } from "./walk.ts";

export interface HostCheckOptions {
  readonly command: readonly string[];
  /** JSON text: what init is given. */
  readonly config?: string | undefined;
  readonly tool?: string | undefined;
  /** JSON text: an object. */
  readonly arguments?: string | undefined;
  readonly timeoutMs?: number | undefined;
  readonly json?: boolean | undefined;
  readonly verbose?: boolean | undefined;
}

const HOST_CHECK_EXIT = { ok: 0, failed: 1, silent: 3 } as const;

const COMMAND = "host check";
const DEFAULT_TIMEOUT_MS = 10_000;

const parseObject = (text: string | undefined, flag: string): JsonObject | undefined => {
  if (text === undefined) return undefined;
  try {
    const value: unknown = JSON.parse(text);
    if (isRecord(value)) return value as JsonObject;
  } catch {
    // Said below.
  }
  throw new WrongUsage(`${flag} takes a JSON object such as {"text": "hello"}`, COMMAND);
};

const print = (output: Output, judged: readonly JudgedHostClause[], command: readonly string[]): void => {
  if (output.json) {
    const clauses = judged.map(({ clause, verdict }) => ({
      ...clause,
      verdict: verdict.outcome,
      reason: verdict.reason,
    }));
    output.data({ command, clauses, summary: countVerdicts(judged) });
    return;
  }
  const named = ({ title, utp }: HostClause): string => (utp === undefined ? title : `${title} (utp ${utp})`);
  for (const line of formatVerdicts(judged, [named])) output.line(line);
  output.line("");
  output.line(formatCounts(judged));
};

export const runHostCheck = async (options: HostCheckOptions, io: CliIo): Promise<number> => {
  const [program, ...args] = options.command;
  if (program === undefined)
    throw new WrongUsage("say how the host is started: toolplane host check -- COMMAND...", COMMAND);
  const output = createOutput(io, options.json === true);
  const words = createLastWords();
  const evidence = await walkHost({
    // As in the configuration: `node` is the Node that runs us.
    argv: [program === "node" ? process.execPath : program, ...args],
    env: setVariables(io.env),
    cwd: io.cwd,
    timeoutMs: options.timeoutMs ?? DEFAULT_TIMEOUT_MS,
    uuid: io.uuid,
    config: parseObject(options.config, "--host-config") ?? {},
    tool: options.tool,
    arguments: parseObject(options.arguments, "--arguments"),
    onStep: (step) => output.progress(`trying: ${step}`),
    onStderr: (text) => {
      words.add(text);
      if (options.verbose === true) io.stderr.write(text);
    },
  });
  output.progress("");
  const judged = judgeHost(evidence);
  const failed = countVerdicts(judged).fail;
  print(output, judged, options.command);
  if (failed > 0 && options.verbose !== true) for (const line of words.lines()) output.note(line);
  if (!evidence.conversations.some(({ heard }) => heard.some(({ message }) => isAnswer(message)))) {
    output.note("toolplane: the host never answered; check its command");
    return HOST_CHECK_EXIT.silent;
  }
  return failed === 0 ? HOST_CHECK_EXIT.ok : HOST_CHECK_EXIT.failed;
};
