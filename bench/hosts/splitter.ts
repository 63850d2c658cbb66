// The least that cuts chunks into lines without looking at a long line again for every chunk of it.

export const createSplitter = (): ((chunk: string) => readonly string[]) => {
  let held: string[] = [];
  return (chunk) => {
    if (!chunk.includes("\n")) {
      held.push(chunk);
      return [];
    }
    const lines = chunk.split("\n");
    if (held.length > 0) lines[0] = held.join("") + (lines[0] ?? "");
    held = [lines.pop() ?? ""];
    return lines;
  };
};
