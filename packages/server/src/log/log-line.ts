// A log entry for a person: time, level unless it is the usual one, message, then the fields.

const OWN_KEYS: ReadonlySet<string> = new Set(["level", "time", "msg"]);

const show = (value: unknown): string => {
  const text = typeof value === "string" ? value : (JSON.stringify(value) ?? "");
  return text === "" || text.includes(" ") ? JSON.stringify(text) : text;
};

/** A foreign value must not move the cursor, colour the terminal or begin a new line. */
const plain = (text: string): string =>
  [...text].map((char) => (char < " " || (char >= "\u007f" && char < "\u00a0") ? "?" : char)).join("");

/** From one line of JSON to one line of text; what is not JSON is shown as it is. */
export const formatLogLine = (line: string): string => {
  let entry: Record<string, unknown>;
  try {
    entry = JSON.parse(line) as Record<string, unknown>;
  } catch {
    return line;
  }
  const time = typeof entry.time === "string" ? entry.time.slice(11, 19) : "";
  const level = entry.level === "info" ? "" : `${String(entry.level)}: `;
  const fields = Object.entries(entry)
    .filter(([name, value]) => !OWN_KEYS.has(name) && value !== undefined && value !== null)
    .map(([name, value]) => ` ${name}=${show(value)}`)
    .join("");
  return `${plain(`${time} ${level}${String(entry.msg ?? "")}${fields}`)}\n`;
};
