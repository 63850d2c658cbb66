import { expect, test } from "vitest";
import { createSseParser, type SentEvent } from "./sse-parser.ts";

const TEXT =
  ': connected\nid: 7\n\nevent: evt\ndata: {"a":1}\nid: 8\n\n: still here\n\nevent: str\ndata: one\ndata: two\n\n';

const WHOLE: readonly SentEvent[] = [
  { event: "message", data: "", id: "7" },
  { event: "evt", data: '{"a":1}', id: "8" },
  { event: "str", data: "one\ntwo", id: undefined },
];

test("events, comments, ids and data of several lines", () => {
  expect(createSseParser().feed(TEXT)).toEqual(WHOLE);
});

test("wherever the text is cut, the events are the same", () => {
  for (let at = 0; at <= TEXT.length; at += 1) {
    const parser = createSseParser();
    expect([...parser.feed(TEXT.slice(0, at)), ...parser.feed(TEXT.slice(at))]).toEqual(WHOLE);
  }
});

test("line breaks of other systems", () => {
  expect(createSseParser().feed(TEXT.replaceAll("\n", "\r\n"))).toEqual(WHOLE);
});
