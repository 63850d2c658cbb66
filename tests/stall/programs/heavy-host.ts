// A tool host that answers whatever document of the corpus it is asked for, written by hand: the parent is what is tested.

import { writeSync } from "node:fs";
import { createInterface } from "node:readline";
import { HOSTILE } from "../corpus.ts";
import { HEAVY } from "../heavy.ts";

interface Asked {
  readonly id: string;
  readonly method: string;
  readonly params?: { readonly arguments?: { readonly document?: string; readonly as?: string } };
}

const write = (text: string): void => {
  const bytes = Buffer.from(`${text}\n`);
  for (let sent = 0; sent < bytes.length; ) {
    try {
      sent += writeSync(1, bytes, sent);
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== "EAGAIN") throw error;
    }
  }
};

/** The result of a `result` document of the hostile ones, or the value of a heavy one. */
const documentOf = (name = ""): string => {
  const heavy = HEAVY.find((item) => item.name === name)?.text;
  if (heavy !== undefined) return heavy;
  const hostile = HOSTILE.find((item) => item.name === name);
  return hostile?.door === "result" ? hostile.text.slice('{"status":"success","result":'.length, -1) : "null";
};

const answerTo = ({ method, params }: Asked): string => {
  if (method === "init") return "{}";
  if (method === "execute_tool") return `{"success":true,"result":${documentOf(params?.arguments?.document)}}`;
  const parameters = { type: "object", properties: { document: { type: "string" }, as: { type: "string" } } };
  return JSON.stringify([{ name: "answer", description: "answers a document", parameters }]);
};

const KNOWN = ["init", "get_tool_schemas", "execute_tool"];

createInterface({ input: process.stdin }).on("line", (line) => {
  const asked = JSON.parse(line) as Asked;
  const head = `{"v":1,"id":${JSON.stringify(asked.id)}`;
  const { document, as } = asked.params?.arguments ?? {};
  // In this case the document is what the session is to keep, and the answer is short.
  if (as === "host-state")
    write(`${head},"ok":true,"result":{"value":{"success":true,"result":1},"state":{"a":${documentOf(document)}}}}`);
  else if (KNOWN.includes(asked.method)) write(`${head},"ok":true,"result":{"value":${answerTo(asked)},"state":{}}}`);
  else write(`${head},"ok":false,"error":{"type":"MethodNotFound","detail":"no such method"}}`);
});
