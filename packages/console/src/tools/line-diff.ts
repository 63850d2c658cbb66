// What changed between two texts, line by line. Pure, and bounded: texts that share little are shown one after the other.

export interface DiffLine {
  readonly kind: "same" | "added" | "removed";
  readonly text: string;
}

/** The table of a comparison has as many cells as the product of the lines that differ. */
const MOST_CELLS = 4_000_000;

const same = (text: string): DiffLine => ({ kind: "same", text });
const added = (text: string): DiffLine => ({ kind: "added", text });
const removed = (text: string): DiffLine => ({ kind: "removed", text });

/** Longest common subsequence of lines. */
const compare = (before: readonly string[], after: readonly string[]): readonly DiffLine[] => {
  if (before.length * after.length > MOST_CELLS) return [...before.map(removed), ...after.map(added)];
  const columns = after.length + 1;
  const lengths = new Uint32Array((before.length + 1) * columns);
  const lengthAt = (row: number, column: number): number => lengths[row * columns + column] ?? 0;
  for (let row = before.length - 1; row >= 0; row -= 1)
    for (let column = after.length - 1; column >= 0; column -= 1)
      lengths[row * columns + column] =
        before[row] === after[column]
          ? lengthAt(row + 1, column + 1) + 1
          : Math.max(lengthAt(row + 1, column), lengthAt(row, column + 1));
  const lines: DiffLine[] = [];
  let [row, column] = [0, 0];
  while (row < before.length && column < after.length) {
    const [old, fresh] = [before[row] ?? "", after[column] ?? ""];
    if (old === fresh) {
      lines.push(same(old));
      row += 1;
      column += 1;
    } else if (lengthAt(row + 1, column) >= lengthAt(row, column + 1)) {
      lines.push(removed(old));
      row += 1;
    } else {
      lines.push(added(fresh));
      column += 1;
    }
  }
  return [...lines, ...before.slice(row).map(removed), ...after.slice(column).map(added)];
};

export const diffLines = (before: string, after: string): readonly DiffLine[] => {
  const [old, fresh] = [before.split("\n"), after.split("\n")];
  let head = 0;
  while (head < old.length && head < fresh.length && old[head] === fresh[head]) head += 1;
  let tail = 0;
  const most = Math.min(old.length, fresh.length) - head;
  while (tail < most && old[old.length - 1 - tail] === fresh[fresh.length - 1 - tail]) tail += 1;
  return [
    ...old.slice(0, head).map(same),
    ...compare(old.slice(head, old.length - tail), fresh.slice(head, fresh.length - tail)),
    ...old.slice(old.length - tail).map(same),
  ];
};

export interface DiffBlock {
  readonly isFolded: boolean;
  readonly lines: readonly DiffLine[];
}

const AROUND = 3;

/** Long stretches without a change are folded. */
export const foldSame = (lines: readonly DiffLine[]): readonly DiffBlock[] => {
  const isNear = (at: number): boolean =>
    lines.slice(Math.max(0, at - AROUND), at + AROUND + 1).some(({ kind }) => kind !== "same");
  const blocks: { isFolded: boolean; lines: DiffLine[] }[] = [];
  lines.forEach((line, at) => {
    const isFolded = !isNear(at);
    const last = blocks.at(-1);
    if (last !== undefined && last.isFolded === isFolded) last.lines.push(line);
    else blocks.push({ isFolded, lines: [line] });
  });
  return blocks;
};
