// The methods: what each answers with.

import { isRecord, type JsonObject, type JsonValue } from "@toolplane/protocol";
import {
  carriesState,
  HOST_VALUES,
  type PlainHostMethod,
  parseHostValue,
  readHostTools,
} from "@toolplane/protocol/host";
import { judgeEach, type Verdict } from "../../../conform/verdict.ts";
import { type Asked, answeredValue, askedIn, type HostEvidence } from "../evidence.ts";
import { type Judges, judgeAnswer, show } from "./judge.ts";

/** An answer to execute_tool that is neither yes nor no; an error is judged as an error. */
export const outcomeFault = (answer: JsonObject): string | undefined => {
  if (answer.ok === false) return undefined;
  const value = answeredValue(answer);
  if (!isRecord(value) || typeof value.success !== "boolean") return "the answer has no success flag";
  return value.success || (value.error !== undefined && value.error !== null)
    ? undefined
    : "success false comes without an error";
};

const stateIn = (answer: JsonObject): boolean => isRecord(answer.result) && isRecord(answer.result.state);

const STATE_TAGS = [
  "schemas",
  "execute",
  "unknown-tool",
  "optional",
  "carriage-return",
  "pieces",
  "large",
  "at-once",
  "deadline",
];

const isPlain = (method: string | undefined): method is PlainHostMethod => Object.hasOwn(HOST_VALUES, method ?? "");

const optionalFault = ({ said, answers: [answer] }: Asked): string | undefined => {
  const { method } = said;
  if (answer === undefined) return `${method} was not answered`;
  if (answer.ok === false || !isPlain(method)) return undefined;
  try {
    parseHostValue(method, (answeredValue(answer) ?? null) as JsonValue);
    return undefined;
  } catch {
    return `${method} answers with ${show(JSON.stringify(answeredValue(answer)) ?? "nothing")}`;
  }
};

const judgeStates = (evidence: HostEvidence): Verdict =>
  judgeEach(
    STATE_TAGS.flatMap((tag) => askedIn(evidence, tag)).filter(
      ({ said, answers }) => carriesState(said.method ?? "", said.params) && answers[0]?.ok === true,
    ),
    ({ said, answers: [answer] }) =>
      answer === undefined || stateIn(answer) ? undefined : `the answer to ${said.method} has no state`,
    { good: "every answer to a request with a state has one", none: "no request with a state succeeded" },
  );

export const methodJudges: Judges = {
  "HOST-C10": (evidence) =>
    judgeAnswer(evidence, "init", "init", (answer) => {
      if (answer.ok === false)
        return `init fails: ${show(JSON.stringify(answer.error))}; give it a config with --host-config`;
      return stateIn(answer) ? undefined : "init answers without a state";
    }),
  "HOST-C11": (evidence) =>
    judgeAnswer(evidence, "schemas", "get_tool_schemas", (answer) => {
      if (answer.ok === false) return `get_tool_schemas fails: ${show(JSON.stringify(answer.error))}`;
      const value = answeredValue(answer);
      if (!Array.isArray(value)) return "get_tool_schemas answers with something that is not a list";
      const { tools, refused } = readHostTools(value as JsonValue);
      const [first] = refused;
      if (first !== undefined) return `the tool ${show(first.name)} cannot be used: ${first.reason}`;
      return tools.length === 0 ? "there is no tool" : undefined;
    }),
  "HOST-C12": (evidence) => judgeAnswer(evidence, "execute", "execute_tool", outcomeFault),
  "HOST-C13": judgeStates,
  "HOST-C14": (evidence) =>
    judgeAnswer(evidence, "unknown-tool", "a tool that is not there", (answer) => {
      const value = answeredValue(answer);
      return isRecord(value) && value.success === true ? "a tool that is not there succeeds" : undefined;
    }),
  "HOST-C15": (evidence) =>
    judgeEach(askedIn(evidence, "optional"), optionalFault, {
      good: "each answers in its shape or is not there",
      none: "the host did not come that far",
    }),
};
