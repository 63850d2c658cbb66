// Which tools may run twice, by globs over their names: `*` is any text, everything else is itself.
// Matching is greedy with one remembered star, so no pattern makes it slow.

const matches = (glob: string, name: string): boolean => {
  let at = 0;
  let position = 0;
  let star = -1;
  let resume = 0;
  while (position < name.length) {
    if (glob[at] === "*") {
      star = at;
      resume = position;
      at += 1;
    } else if (glob[at] === name[position]) {
      at += 1;
      position += 1;
    } else if (star >= 0) {
      resume += 1;
      position = resume;
      at = star + 1;
    } else {
      return false;
    }
  }
  while (glob[at] === "*") at += 1;
  return at === glob.length;
};

export const createRetrySafe = (globs: readonly string[]): ((toolName: string) => boolean) => {
  const known = new Map<string, boolean>();
  return (toolName) => {
    const answer = known.get(toolName) ?? globs.some((glob) => matches(glob, toolName));
    // Names come from callers too, so the memory is bounded.
    if (known.size < 1_000) known.set(toolName, answer);
    return answer;
  };
};
