import fc from "fast-check";
import { expect, test } from "vitest";
import { previewJson } from "./preview.ts";

test("[SEC-15-S1] for JSON it is the text, cut, with the size of the whole", () => {
  fc.assert(
    fc.property(fc.jsonValue({ maxDepth: 5 }), fc.integer({ min: 0, max: 50 }), (value, keep) => {
      const text = JSON.stringify(value);
      const preview = previewJson(value, keep);
      expect(preview.bytes).toBe(Buffer.byteLength(text));
      expect(preview.exact).toBe(true);
      expect(preview.text).toBe(text.slice(0, keep).toWellFormed());
    }),
  );
});

test("[SEC-15-S1] a small graph that is an enormous tree is not unfolded", () => {
  let node: unknown = "x".repeat(100);
  for (let i = 0; i < 40; i += 1) node = [node, node];
  const preview = previewJson(node, 10);
  expect(preview).toMatchObject({ exact: false, text: "[[[[[[[[[[" });
});

test("[SEC-15-S1] a text that is far too long is not written to be counted", () => {
  const preview = previewJson(["a".repeat(3_000_000)], 5);
  expect(preview).toMatchObject({ exact: false, text: '["aaa' });
  expect(preview.bytes).toBeLessThanOrEqual(3_000_004);
});

test.each([
  ["a cycle", () => Object.assign([] as unknown[], {}), (list: unknown[]) => list.push(list)],
  [
    "a getter that throws",
    () =>
      Object.defineProperty({}, "x", {
        enumerable: true,
        get: () => {
          throw new Error("no");
        },
      }),
    () => {},
  ],
])("%s ends it", (_name, make, change) => {
  const value = make() as never;
  change(value);
  expect(previewJson(value, 20).exact).toBe(false);
});

test("what is not JSON is shown as well as it can be", () => {
  expect(previewJson({ n: 10n, f: () => 1, u: undefined, d: new Date(0) }, 100).text).toBe(
    '{"n":10,"f":null,"d":"1970-01-01T00:00:00.000Z"}',
  );
});
