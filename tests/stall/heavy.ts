// Documents within the bounds, or stopped by one only after they were read: as costly as a body may be without being
// refused at the door. `text` is the JSON of a value; the door says where it is put.

export interface Heavy {
  readonly name: string;
  readonly door: Door;
  readonly text: string;
}

/** `yaml-*`: the text is YAML. `form`: a definition in a multipart upload. `stream`: a model answers it in small events. `host`: what a tool host answers. */
export type Door =
  | "result"
  | "arguments"
  | "batch"
  | "card"
  | "parts"
  | "report"
  | "profile"
  | "yaml-profile"
  | "form"
  | "instruction"
  | "step"
  | "stream"
  | "host"
  | "host-state";

const times = (count: number, item: (i: number) => string): string =>
  Array.from({ length: count }, (_, i) => item(i)).join(",");

const MIB = 1024 * 1024;
/** Just below the bounds of json-work.ts. */
const NAMES = 9_900;
const VALUES = 249_000;

const VALUES_OF_A_MIB: readonly (readonly [string, string])[] = [
  ["9,900 different names", `{${times(NAMES, (i) => `"k${i}":0`)}}`],
  ["9,900 names of digits", `{${times(NAMES, (i) => `"${i}7":0`)}}`],
  ["9,900 objects of one name each", `[${times(NAMES, (i) => `{"k${i}":0}`)}]`],
  ["4,900 objects that share a name", `[${times(4_900, (i) => `{"id":${i},"k${i}":0}`)}]`],
  ["249,000 numbers", `[${times(VALUES, (i) => `${i % 10}`)}]`],
  ["249,000 empty lists", `[${times(VALUES, () => "[]")}]`],
  ["120,000 empty objects", `[${times(120_000, () => "{}")}]`],
  ["60,000 objects of one shape", `[${times(60_000, (i) => `{"a":${i % 10}}`)}]`],
  ["a text of 1,000,000 characters", `"${"a".repeat(1_000_000)}"`],
  ["a text of 160,000 escapes", `"${"\\u0001".repeat(160_000)}"`],
  ["a text of 300,000 wide characters", `"${"é世".repeat(150_000)}"`],
  ["lists 60 deep, 3,000 times", `[${times(3_000, () => `${"[".repeat(60)}${"]".repeat(60)}`)}]`],
  ["40,000 texts with an escape", `[${times(40_000, (i) => `"\\u0061${i}"`)}]`],
];

const SIXTEEN_MIB: readonly (readonly [string, string])[] = [
  ["16 MiB of one text", `"${"a".repeat(15.9 * MIB)}"`],
  ["16 MiB of escapes", `"${"\\u0001".repeat(2.6 * MIB)}"`],
  ["16 MiB of wide characters", `"${"世".repeat(5.2 * MIB)}"`],
  ["249,000 texts of 60 characters", `[${times(VALUES, () => `"${"a".repeat(60)}"`)}]`],
  ["83,000 rows of 190 characters", `[${times(83_000, (i) => `{"id":${i},"text":"${"b".repeat(160)}"}`)}]`],
  ["9,900 names of 800 characters", `{${times(NAMES, (i) => `"${i}${"n".repeat(790)}":0`)}}`],
  ["249,000 long numbers", `[${times(VALUES, () => "-1.2345678901234567e-300")}]`],
  ["16 MiB of backslashes", `"${"\\\\".repeat(7.9 * MIB)}"`],
  ["16 MiB of blanks", `[${" ".repeat(15.9 * MIB)}]`],
];

const at = (door: Door, all: readonly (readonly [string, string])[]): readonly Heavy[] =>
  all.map(([name, text]) => ({ name, door, text }));

const some = (...names: readonly string[]) => VALUES_OF_A_MIB.filter(([name]) => names.includes(name));
const DENSE = some("9,900 different names", "9,900 names of digits", "249,000 numbers", "249,000 empty lists");

/** A hundred calls of 160 kB each. */
const BATCHES: readonly (readonly [string, string])[] = [
  ["100 calls with one text of 160 kB", times(100, () => `"${"a".repeat(160_000)}"`)],
  ["100 calls with the same 190 names", times(100, () => `{${times(190, (i) => `"k${i}":"${"a".repeat(700)}"`)}}`)],
  ["100 calls with 190 names of their own", times(100, (c) => `{${times(190, (i) => `"c${c}k${i}":0`)}}`)],
  ["100 calls with 2,400 numbers", times(100, () => `[${times(2_400, (i) => `${i}`)}]`)],
];

const PROFILES: readonly (readonly [string, string])[] = [
  ["9,900 names in a profile", `{${times(NAMES, (i) => `"k${i}":0`)}}`],
  ["249,000 numbers in a profile", `[${times(VALUES, () => "0")}]`],
];

const YAML_PROFILES: readonly (readonly [string, string])[] = [
  ["50,000 names in a YAML profile", Array.from({ length: 30_000 }, (_, i) => `k${i}: 0`).join("\n")],
  ["keys in each other in a YAML profile", `${"? ".repeat(500)}a`],
];

/** A model answers with it; its library would read it before anybody else could. */
const TOO_MUCH_FOR_A_MODEL: readonly (readonly [string, string])[] = [
  ["a million numbers", `[${times(1_000_000, () => "0")}]`],
  ["1.2 million names", `{${times(1_200_000, (i) => `"k${i}":0`)}}`],
];

/** In events of two hundred characters each. */
const IN_SMALL_EVENTS: readonly (readonly [string, string])[] = [
  ["4 MB of numbers in small events", `[${times(2_000_000, () => "0")}]`],
  ["400,000 names in small events", `{${times(400_000, (i) => `"k${i}":0`)}}`],
  ["4 MB of one text in small events", `"${"a".repeat(4_000_000)}"`],
  ["2 MB of quotes in small events", `"${'\\"'.repeat(1_000_000)}"`],
];

/** The longest result that a tool may give, or nearly. */
export const LONG_RESULT: Heavy = {
  name: "a text of 850,000 characters",
  door: "host",
  text: `"${"a".repeat(850_000)}"`,
};

/** What fits into a message of the deployed NATS server. */
export const FOR_NATS: readonly (readonly [string, string])[] = [
  ...VALUES_OF_A_MIB,
  ...SIXTEEN_MIB.filter(([, text]) => Buffer.byteLength(text) < 7.5 * MIB),
  ["7 MiB of one text", `"${"a".repeat(7 * MIB)}"`],
  ["7 MiB of blanks", `[${" ".repeat(7 * MIB)}]`],
  ["500,000 names", `{${times(500_000, (i) => `"k${i}":0`)}}`],
];

export const HEAVY: readonly Heavy[] = [
  ...at("result", VALUES_OF_A_MIB),
  ...at("result", SIXTEEN_MIB),
  ...at("arguments", VALUES_OF_A_MIB),
  ...at("batch", BATCHES),
  ...at("batch", SIXTEEN_MIB),
  ...at("card", [...DENSE, ...SIXTEEN_MIB.slice(0, 4)]),
  ...at("parts", DENSE),
  ...at("report", DENSE),
  ...at("profile", PROFILES),
  ...at("yaml-profile", YAML_PROFILES),
  ...at("form", YAML_PROFILES),
  ...at("instruction", [["200,000 escapes", `"${"\\u0001".repeat(199_000)}"`]]),
  ...at("step", [...DENSE, ...TOO_MUCH_FOR_A_MODEL]),
  ...at("stream", IN_SMALL_EVENTS),
  LONG_RESULT,
  ...at("host", [...DENSE, ...SIXTEEN_MIB]),
  ...at("host-state", [...DENSE, ...SIXTEEN_MIB]),
];
