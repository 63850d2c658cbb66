// One request by the program `curl`, as a person makes it. Of a stream that does not end, curl shows the head and is ended.

import { spawn } from "node:child_process";

export interface CurlRequest {
  readonly method: string;
  readonly url: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body?: string | undefined;
}

export interface CurlAnswer {
  readonly response: Response;
  readonly text: string;
}

const STREAMS = /^content-type: *(text\/event-stream|application\/x-ndjson)/im;
const END_OF_HEAD = "\r\n\r\n";
const BODYLESS: ReadonlySet<number> = new Set([204, 304]);

const answerOf = (output: string, said: string): CurlAnswer => {
  const end = output.indexOf(END_OF_HEAD);
  if (end < 0) throw new RangeError(`curl got no answer: ${said}`);
  const [first = "", ...lines] = output.slice(0, end).split("\r\n");
  const headers = new Headers(
    lines.map((line): [string, string] => [line.slice(0, line.indexOf(":")), line.slice(line.indexOf(":") + 1).trim()]),
  );
  const status = Number(first.split(" ")[1]);
  const text = output.slice(end + END_OF_HEAD.length);
  return { response: new Response(BODYLESS.has(status) ? null : text, { status, headers }), text };
};

export const curl = ({ method, url, headers, body }: CurlRequest): Promise<CurlAnswer> =>
  new Promise((resolve, reject) => {
    const argv = ["--silent", "--show-error", "--include", "--no-buffer", "--request", method];
    for (const [name, value] of Object.entries(headers))
      argv.push("--header", value === "" ? `${name}:` : `${name}: ${value}`);
    // No `Expect: 100-continue`, whose head would come first.
    if (body !== undefined) argv.push("--header", "Expect:", "--data-binary", "@-");
    const child = spawn("curl", [...argv, url]);
    let output = "";
    let said = "";
    child.once("error", reject);
    child.stdout.setEncoding("utf8").on("data", (text: string) => {
      output += text;
      if (STREAMS.test(output) && output.includes(END_OF_HEAD)) child.kill();
    });
    child.stderr.setEncoding("utf8").on("data", (text: string) => {
      said += text;
    });
    child.once("close", () => {
      try {
        resolve(answerOf(output, said));
      } catch (error) {
        reject(error as Error);
      }
    });
    child.stdin.end(body ?? "");
  });
