// Fourteen ways a tool fails x four kinds of programs: what the program's log, `calls show`, `why` and the model say. Writes
// docs/records/failing-tools.md.

import { writeFileSync } from "node:fs";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import {
  type FailingWorld,
  KINDS,
  type Kind,
  type Seen,
  startFailingWorld,
  WAYS,
  type WayName,
} from "./failing/world.ts";

let world: FailingWorld;
beforeAll(async () => {
  world = await startFailingWorld();
}, 300_000);
afterAll(() => world?.[Symbol.asyncDispose]());

const KILLED = "a service that is killed: see unknown outcome";
const OURS = "the plane's own process holds the lease of a host";
const THREAD = "an error in a thread of Python ends that thread only";
const DOES_NOT_APPLY: ReadonlyMap<string, string> = new Map([
  ["TypeScript service/out of memory", KILLED],
  ["Python service/out of memory", KILLED],
  ["Node host/lost lease", OURS],
  ["Python host/lost lease", OURS],
  ["Python service/throws in a timer", THREAD],
  ["Python host/throws in a timer", THREAD],
]);

/** The code, a word of the message, and a word of the cause that `calls show` must have; none for what has no stack. */
const EXPECTED: Readonly<Record<WayName, readonly [code: RegExp, message: RegExp, cause: RegExp | undefined]>> = {
  throws: [/^internal_error$/, /JSON|missing/, /ways\.(ts|py)/],
  "throws no Error": [/^internal_error$/, /threw undefined|sys\.exit\(3\)|SystemExit: 3/, /threw undefined|sys\.exit/],
  "throws in a timer": [/^internal_error$/, /the timer fell over/, /ways\.ts/],
  rejects: [/^internal_error$/, /the vault is closed/, /no key/],
  "times out": [/^tool_timeout$/, /did not (finish|answer within)/, undefined],
  "bad result": [/^result_not_serializable$/, /total|not JSON/, undefined],
  "missing file": [/^internal_error$/, /\/nope\/settings\.json/, /ways\.(ts|py)/],
  "refused connection": [
    /^(upstream_unavailable|internal_error)$/,
    /ECONNREFUSED|Connection refused/,
    /ECONNREFUSED|Connection refused/,
  ],
  assertion: [/^internal_error$/, /one is not two/, /ways\.(ts|py)/],
  "out of memory": [/^outcome_unknown$/, /memory/, /memory/],
  "wrong schema": [/^bad_request$/, /\$\.n: must be a whole number/, undefined],
  "lost lease": [/^outcome_unknown$/, /stopped answering/, undefined],
  canceled: [/^canceled$/, /not needed/, undefined],
  "unknown outcome": [/^outcome_unknown$/, /stopped answering|SIGKILL/, undefined],
};

const CASES = WAYS.flatMap((way) =>
  KINDS.filter((kind) => !DOES_NOT_APPLY.has(`${kind}/${way}`)).map((kind) => [way, kind] as const),
);

describe("[SEE-10] what a failure leaves", () => {
  test.each(CASES)("%s, %s", async (way, kind) => {
    const seen = await world.seen(kind, way);
    const [code, message, cause] = EXPECTED[way];
    expect(seen.code).toMatch(code);
    expect(seen.message).toMatch(message);
    if (cause !== undefined) expect(seen.cause).toMatch(cause);
    if (way === "wrong schema") return;
    expect(seen.why).toContain(seen.code);
    expect(seen.todo).not.toBe("");
    // A service that was killed cannot write: the server's log has it.
    if (way !== "unknown outcome") expect(seen.log.join("\n")).not.toBe("");
  });

  test("[SEE-9] the server's log names the calls whose outcome is unknown, and the services that came and went", async () => {
    const log = world.stack.up.stderr();
    for (const kind of ["TypeScript service", "Python service"] as const) {
      const { callId } = await world.seen(kind, "unknown outcome");
      expect(log).toMatch(new RegExp(`"call":"${callId}".*"msg":"a call ended with an unknown outcome"`));
    }
    expect(log).toMatch(/"target":"ts".*"msg":"a service asks for work"/);
    expect(log).toMatch(/"target":"ts".*"msg":"a service went away"/);
  });
});

const cell = (text: string, width = 160): string => {
  const line = text
    .replaceAll(/\s+/g, " ")
    .replaceAll("|", "\\|")
    .replaceAll(/\b01[0-9a-f]{30}\b/g, "ID")
    .trim();
  return line.length <= width ? line : `${line.slice(0, width)}...`;
};

/** The words of a log line: JSON of the server, or a line of a service, without its time. */
const logCell = ({ log }: Seen): string => {
  const [line = "", next = ""] = log;
  const words = /"msg":"([^"]+)"/.exec(line)?.[1] ?? line.replace(/^[-0-9]+ [0-9:,]+ /, "").replace(/ stack=.*$/, "");
  return cell(words.includes("left behind") && next !== "" ? next.replace(/ tool=.*$/, "") : words, 120);
};

const causeOf = ({ cause }: Seen): string => {
  const lines = cause.split("\n").filter((line) => line.trim() !== "");
  const last = lines.findLast((line) => /^\w*(Error|Exception|Exit)/.test(line)) ?? lines[0] ?? "";
  return last === "" ? "-" : `${cell(last, 90)} (${lines.length} lines)`;
};

const modelOf = ({ model }: Seen): string => {
  const json = /\{.*\}/s.exec(model)?.[0];
  if (json === undefined) return "the same code and message";
  const { error } = JSON.parse(json) as { readonly error: { readonly code: string; readonly message: string } };
  return cell(`${error.code}: ${error.message}`, 110);
};

const rowOf = (kind: Kind, way: WayName, seen: Seen): string =>
  DOES_NOT_APPLY.has(`${kind}/${way}`)
    ? `| | ${kind} | ${DOES_NOT_APPLY.get(`${kind}/${way}`)} | | | | |`
    : `| | ${kind} | ${seen.code}: ${cell(seen.message, 110)} | ${causeOf(seen)} | ${seen.log.length === 0 ? "-" : logCell(seen)} | ${cell(seen.todo === "" ? "-" : seen.todo, 190)} | ${modelOf(seen)} |`;

test("the record", async () => {
  const rows: string[] = [];
  for (const way of WAYS) {
    rows.push(`| **${way}** | | | | | | |`);
    for (const kind of KINDS) rows.push(rowOf(kind, way, await world.seen(kind, way)));
  }
  const page = `# Fourteen ways a tool fails

Written by \`npx vitest run -c vitest.long.config.ts tests/long/failing-tools.long.ts\` over real parts: \`toolplane up\`, a service and a host in TypeScript and in Python, an agent whose
model is an HTTP server on this machine, and the signals of the operating system. The tools are in \`tests/long/failing/\`.

- *calls show*: the \`error\`, and the last line of the \`cause\` with how many lines of stack it has. Only operators see the cause.
- *log*: of the program. For a host that is the log of the server; a service that was killed writes nothing, and the server's log has
  \`a call ended with an unknown outcome\` with the call, the tool and the service.
- *what to do*: what \`why\` and \`toolplane call\` advise. \`why\` begins with the code and the message.
- *the model*: the message that the model was shown in its tool result, or would be: these calls were made by a person.
- A call with arguments that do not fit is refused before it is sent: \`toolplane call\` says so at once, and for an agent \`turns show\` has it. There is no call to show.

| way | program | calls show: error | calls show: cause | log | what to do | the model |
|---|---|---|---|---|---|---|
${rows.join("\n")}
`;
  writeFileSync(new URL("../../docs/records/failing-tools.md", import.meta.url), page);
  expect(rows).toHaveLength(WAYS.length * (KINDS.length + 1));
});
