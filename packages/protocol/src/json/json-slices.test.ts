import fc from "fast-check";
import { expect, test } from "vitest";
import { sliceList, sliceObject } from "./json-slices.ts";

test("the parts of a list and of an object, as they were written", () => {
  expect(sliceList(' [ {"a":"],"} , [1, 2],"x\\"]" ,3 ] ')).toEqual(['{"a":"],"}', "[1, 2]", '"x\\"]"', "3"]);
  expect(sliceList("[]")).toEqual([]);
  expect(sliceObject('{ "a" : [1,{"b":2}] , "\\u0061":"}" }')).toEqual([
    { name: '"a"', value: '[1,{"b":2}]' },
    { name: '"\\u0061"', value: '"}"' },
  ]);
  expect(sliceObject(" { } ")).toEqual([]);
});

test("a text whose parts cannot be told apart has none", () => {
  for (const text of ["", "1", "{}", "[1", "[1,]", "[,1]", "[1}", "[1] 2", '["a'])
    expect(sliceList(text), text).toBeUndefined();
  for (const text of ["[]", "{", '{"a"}', '{"a":}', '{"a":1,}', "{a:1}", '{"a":1]', '{"a":1}}'])
    expect(sliceObject(text), text).toBeUndefined();
});

test("the parts of valid JSON are its values", () => {
  fc.assert(
    fc.property(fc.array(fc.jsonValue()), fc.dictionary(fc.string(), fc.jsonValue()), (list, object) => {
      expect(sliceList(JSON.stringify(list, null, 1))?.map((text) => JSON.parse(text) as unknown)).toEqual(
        JSON.parse(JSON.stringify(list)),
      );
      const members = sliceObject(JSON.stringify(object)) ?? [];
      expect(members.map(({ name, value }) => [JSON.parse(name), JSON.parse(value)])).toEqual(
        Object.entries(JSON.parse(JSON.stringify(object)) as object),
      );
    }),
  );
});
