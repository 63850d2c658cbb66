// Foreign text on a terminal. A tool's answer must not move the cursor, change colours or reverse the text, so every character
// with an effect beyond being visible is written as an escape.

/** Controls, invisible format characters (direction, joiners, tags) and separators of lines and paragraphs. */
const ACTIVE = /[\p{Cc}\p{Cf}\p{Zl}\p{Zp}]/gu;

const escapeUnit = (unit: string): string => `\\u${unit.charCodeAt(0).toString(16).padStart(4, "0")}`;

/** As JSON writes it, so that inside a JSON text it means the same character. */
const escapeCharacter = (character: string): string => character.split("").map(escapeUnit).join("");

/** One line, whatever it was: line ends become blanks. */
export const oneLine = (text: string): string =>
  text.replaceAll("\r\n", " ").replaceAll("\n", " ").replaceAll("\t", " ").replace(ACTIVE, escapeCharacter).trim();

/** Its lines and tabs stay. */
export const plainText = (text: string): string =>
  text.replace(ACTIVE, (character) =>
    character === "\n" || character === "\t" ? character : escapeCharacter(character),
  );

/** Cut to a width that leaves room for the other columns. */
export const shorten = (text: string, width: number): string =>
  text.length <= width ? text : `${text.slice(0, Math.max(0, width - 3))}...`;

/** JSON that is safe to show: the same value, with every character that has an effect escaped. */
export const jsonText = (value: unknown, indent?: number): string => {
  const text = JSON.stringify(value, null, indent) ?? "null";
  // The line ends and blanks of the layout are outside of strings; inside, JSON has escaped them already.
  return text.replace(ACTIVE, (character) => (character === "\n" ? character : escapeCharacter(character)));
};
