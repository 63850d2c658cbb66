// Text of others on somebody's terminal. A tool's answer must not move the cursor, change colours, or read backwards, so
// every character that does more than be seen is written as an escape.

/** Controls, and what changes the direction of writing or cannot be seen. */
const isActive = (code: number): boolean =>
  code < 0x20 ||
  (code >= 0x7f && code <= 0x9f) ||
  code === 0x061c ||
  (code >= 0x200b && code <= 0x200f) ||
  (code >= 0x2028 && code <= 0x202e) ||
  (code >= 0x2060 && code <= 0x2069) ||
  code === 0xfeff;

const escapeUnit = (code: number): string => `\\u${code.toString(16).padStart(4, "0")}`;

const escapeActive = (text: string, keep: (code: number) => boolean): string => {
  let written = "";
  for (let index = 0; index < text.length; index += 1) {
    const code = text.charCodeAt(index);
    written += isActive(code) && !keep(code) ? escapeUnit(code) : text.charAt(index);
  }
  return written;
};

/** One line, whatever it was: line ends become blanks. */
export const oneLine = (text: string): string =>
  escapeActive(text.replaceAll("\r\n", " ").replaceAll("\n", " ").replaceAll("\t", " "), () => false).trim();

/** Cut to a width that leaves room for the other columns. */
export const shorten = (text: string, width: number): string =>
  text.length <= width ? text : `${text.slice(0, Math.max(0, width - 3))}...`;

/** JSON that is safe to look at: the same value, with every active character escaped. */
export const jsonText = (value: unknown, indent?: number): string => {
  const text = JSON.stringify(value, null, indent) ?? "null";
  // The line ends and blanks of the layout are outside of strings; inside, JSON has escaped them already.
  return escapeActive(text, (code) => code === 0x0a);
};
