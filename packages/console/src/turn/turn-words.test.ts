import { expect, test } from "vitest";
import { addWords } from "./turn-words.ts";

const chunk = (step: string, type: string, content?: string, turn = "t1") => ({
  subject: "cg.v1r4.demo.public.str.agent.helper.chunk",
  isLogged: false,
  payload: { agent_turn_id: turn, step_id: step, chunk_type: type, ...(content === undefined ? {} : { content }) },
});

test("words are put together by step, and a step that is tried again begins anew", () => {
  let words = addWords(new Map(), "t1", [
    chunk("s1", "start"),
    chunk("s1", "content", "Hel"),
    chunk("s1", "content", "lo"),
  ]);
  words = addWords(words, "t1", [
    chunk("s2", "content", "two"),
    chunk("s1", "content", "x", "t2"),
    chunk("s1", "reasoning", "hm"),
  ]);
  expect([...words]).toEqual([
    ["s1", "Hello"],
    ["s2", "two"],
  ]);
  expect(addWords(words, "t1", [chunk("s1", "start")]).get("s1")).toBe("");
  expect(addWords(words, "t1", [])).toBe(words);
});
