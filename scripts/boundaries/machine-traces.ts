// What is committed is the same for everybody: no path of somebody's home or build directory, no address of the
// registry somebody happened to install from.

import { broken, type Violation } from "./violation.ts";
import type { Workspace } from "./workspace.ts";

interface Trace {
  readonly pattern: RegExp;
  readonly advice: string;
}

const TRACES: readonly Trace[] = [
  {
    pattern: /(?<![\w.~$}-])\/(?:home|Users|root|work|workspace|workspaces|builds)\/[\w.-]/,
    advice: "remove the path of one machine; derive it at run time",
  },
  { pattern: /[A-Z]:\\+Users\\/, advice: "remove the path of one machine; derive it at run time" },
  { pattern: /https?:\/\/registry\./, advice: "remove the registry's address; npm's configuration has it" },
  { pattern: /registry\.npmjs\./, advice: "remove the registry's address; npm's configuration has it" },
  { pattern: /"resolved": *"https?:/, advice: "regenerate the lock file; .npmrc keeps download addresses out of it" },
];

export const checkMachineTraces = (workspace: Workspace): readonly Violation[] => {
  const found: Violation[] = [];
  for (const [path, text] of workspace.files) {
    text.split("\n").forEach((line, index) => {
      const trace = TRACES.find(({ pattern }) => pattern.test(line));
      if (trace !== undefined) found.push(broken("machine-trace", path, index + 1, trace.advice));
    });
  }
  return found;
};
