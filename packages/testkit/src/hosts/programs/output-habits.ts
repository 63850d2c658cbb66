// Hosts that write what they should not.

import { answer, answerLine, type Habit, type HostCall, line, part, raw, refuse } from "./host-side.ts";

const good = (call: HostCall): string => answerLine(call.id, { success: true, result: "fine" }, call.params.state);

const MEGABYTE = "x".repeat(1024 * 1024);

const writeInPieces = (text: string): void => {
  const bytes = Buffer.from(text);
  let at = 0;
  const next = (): void => {
    raw(bytes.subarray(at, at + 3));
    at += 3;
    if (at < bytes.length) setImmediate(next);
  };
  next();
};

export const OUTPUT_HABITS = {
  /** Prints of a library, of a progress bar, of an object; an empty line; a message cut off by a print. */
  pollution: {
    bad: (call) => {
      raw("Loading model...\n\n\r\n[1, 2]\nnull\n{}\n{ x: 1 }\n10%\r20%\r");
      raw(`\n{"v":1,"id":"${call.id}","ok":tr\n`);
      raw(`DEBUG got ${JSON.stringify(call)}\n${line({ v: 1, ...call })}`);
      raw(good(call));
    },
  },
  half_lines: { bad: (call) => writeInPieces(good(call).replace("fine", "größer 😀").replace("\n", "\r\n")) },
  long_line: {
    bad: (call) => {
      raw(`{"v":1,"id":"${call.id}","ok":true,"result":{"value":{"success":true,"result":"`);
      for (let i = 0; i < 100; i += 1) raw(MEGABYTE);
      raw('"}}}\n');
    },
  },
  /** The id comes last, so only the end of the line says whose it is. */
  long_line_id_last: {
    bad: (call) => {
      raw('{"v":1,"ok":true,"result":{"value":{"success":true,"result":"');
      for (let i = 0; i < 20; i += 1) raw(MEGABYTE);
      raw(`"}},"id":"${call.id}"}\n`);
    },
  },
  long_event: {
    bad: (call) => {
      raw(`{"v":1,"id":"${call.id}","event":{"type":"part","payload":"`);
      for (let i = 0; i < 20; i += 1) raw(MEGABYTE);
      raw('"}}\n');
    },
  },
  endless_line: {
    bad: () => {
      for (;;) raw(MEGABYTE);
    },
  },
  wrong_version: { bad: (call) => raw(good(call).replace('"v":1', '"v":2')) },
  wrong_shape: { bad: (call) => raw(answerLine(call.id, "done")) },
  no_result: { bad: (call) => raw(line({ v: 1, id: call.id, ok: true })) },
  duplicate_ids: { bad: (call) => raw(good(call).repeat(3)) },
  unknown_ids: {
    bad: (call) => {
      for (let i = 0; i < 5; i += 1) raw(answerLine(`guess-${i}`, { success: true, result: "forged" }));
      refuse(null, "ParseError", "bad line");
      raw(good(call));
    },
  },
  late_events: {
    bad: (call) => raw(part(call.id, 1) + part(call.id, 2) + good(call) + part(call.id, 3)),
  },
  odd_events: {
    bad: (call) =>
      raw(
        line({ v: 1, id: call.id, event: {} }) +
          line({ v: 1, id: call.id, event: { type: "surprise", payload: 1 } }) +
          line({ v: 1, id: call.id, event: { type: "log", payload: { level: "warn", message: "watch out", n: 1 } } }) +
          part(call.id, "real") +
          good(call),
      ),
  },
  invalid_utf8: {
    bad: (call) => {
      const [before = "", after = ""] = good(call).split("fine");
      raw(Buffer.concat([Buffer.from(`${before}a`), Buffer.from([0xff, 0xc3, 0x28]), Buffer.from(after)]));
    },
  },
  deep_result: {
    bad: (call) => raw(good(call).replace('"fine"', `${"[".repeat(5_000)}${"]".repeat(5_000)}`)),
  },
  proto_key: {
    bad: (call) => raw(good(call).replace('"fine"', '{"__proto__":{"polluted":true},"kept":1}')),
  },
  throws: { bad: (call) => refuse(call.id, "TypeError", "x is undefined") },
  says_no: { bad: (call) => raw(answerLine(call.id, { success: false, error: "no such word" }, { n: 99 })) },
  no_newline_at_the_end: {
    bad: (call) => {
      raw(good(call).trimEnd());
      process.exit(0);
    },
  },
  honest: { bad: (call) => answer(call, "fine") },
} as const satisfies Record<string, Habit>;
