// The first place where two texts differ, with a little around it: enough to see what changed without a diff program.

const CONTEXT_LINES = 3;

export const firstDifference = (expected: string, found: string): string | undefined => {
  if (expected === found) return undefined;
  const [before, after] = [expected.split("\n"), found.split("\n")];
  const length = Math.max(before.length, after.length);
  let at = 0;
  while (at < length && before[at] === after[at]) at++;
  const around = before.slice(Math.max(0, at - CONTEXT_LINES), at).map((line) => `  ${line}`);
  return [`line ${at + 1}:`, ...around, `- ${before[at] ?? "(end)"}`, `+ ${after[at] ?? "(end)"}`].join("\n");
};
