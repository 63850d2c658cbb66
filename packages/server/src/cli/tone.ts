// Colours say what a status means, and only that: green is done, red is wrong, yellow needs a person, cyan goes on. Text is complete
// without them.

export type Tone = "good" | "bad" | "attention" | "going" | "faint";

const TONES: Readonly<Record<string, Tone>> = {
  success: "good",
  completed: "good",
  active: "good",
  ready: "good",
  failed: "bad",
  timeout: "bad",
  dead: "bad",
  broken: "bad",
  partial: "attention",
  canceled: "attention",
  stopped: "attention",
  paused: "attention",
  awaiting_approval: "attention",
  queued: "going",
  dispatched: "going",
  running: "going",
  suspended: "going",
  started: "going",
};

export const toneOf = (status: string | undefined): Tone | undefined =>
  status === undefined ? undefined : TONES[status];

const CODES: Readonly<Record<Tone | "strong", string>> = {
  good: "\u001b[32m",
  bad: "\u001b[31m",
  attention: "\u001b[33m",
  going: "\u001b[36m",
  faint: "\u001b[2m",
  strong: "\u001b[1m",
};

const PLAIN = "\u001b[0m";

export type Paint = (tone: Tone | "strong" | undefined, text: string) => string;

/** `text` is made of visible characters only: what is foreign was escaped before. */
export const createPaint =
  (mayColour: boolean): Paint =>
  (tone, text) =>
    mayColour && tone !== undefined && text !== "" ? `${CODES[tone]}${text}${PLAIN}` : text;
