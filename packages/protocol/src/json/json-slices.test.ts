import fc from "fast-check";
import { expect, test } from "vitest";
import { sliceList, sliceObject } from "./json-slices.ts";

const MOST = 1_000;

test("the parts of a list and of an object, as they were written", () => {
  expect(sliceList(' [ {"a":"],"} , [1, 2],"x\\"]" ,3 ] ', MOST)).toEqual(['{"a":"],"}', "[1, 2]", '"x\\"]"', "3"]);
  expect(sliceList("[]", MOST)).toEqual([]);
  expect(sliceObject('{ "a" : [1,{"b":2}] , "\\u0061":"}" }', MOST)).toEqual([
    { name: '"a"', value: '[1,{"b":2}]' },
    { name: '"\\u0061"', value: '"}"' },
  ]);
  expect(sliceObject(" { } ", MOST)).toEqual([]);
});

test("a text whose parts cannot be told apart has none", () => {
  for (const text of ["", "1", "{}", "[1", "[1,]", "[,1]", "[1}", "[1] 2", '["a'])
    expect(sliceList(text, MOST), text).toBeUndefined();
  for (const text of ["[]", "{", '{"a"}', '{"a":}', '{"a":1,}', "{a:1}", '{"a":1]', '{"a":1}}'])
    expect(sliceObject(text, MOST), text).toBeUndefined();
});

test("a text with more parts than its reader takes is not cut up", () => {
  expect(sliceList("[1,2]", 2)).toEqual(["1", "2"]);
  expect(sliceList("[1,2,3]", 2)).toBeUndefined();
  expect(sliceObject('{"a":1,"b":2}', 1)).toBeUndefined();
  expect(sliceList("[1\u00a0]", MOST)).toEqual(["1\u00a0"]);
});

test("the parts of valid JSON are its values", () => {
  fc.assert(
    fc.property(fc.array(fc.jsonValue()), fc.dictionary(fc.string(), fc.jsonValue()), (list, object) => {
      expect(sliceList(JSON.stringify(list, null, 1), MOST)?.map((text) => JSON.parse(text) as unknown)).toEqual(
        JSON.parse(JSON.stringify(list)),
      );
      const members = sliceObject(JSON.stringify(object), MOST) ?? [];
      expect(members.map(({ name, value }) => [JSON.parse(name), JSON.parse(value)])).toEqual(
        Object.entries(JSON.parse(JSON.stringify(object)) as object),
      );
    }),
  );
});
