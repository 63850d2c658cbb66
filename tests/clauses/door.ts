// A door is where somebody outside can break a rule. Which door a test tries is told by where it lies; a test that tries
// several names them in its header: `Doors: HTTP, NATS`.

export const DOORS = ["HTTP", "NATS", "in process", "host"] as const;
export type Door = (typeof DOORS)[number];

const PLACES: readonly (readonly [RegExp, Door])[] = [
  [/^tests\/(bus|conform|examples)\/nats/, "NATS"],
  [/^tests\/(http|cli|up|examples|conform)\//, "HTTP"],
  [/^packages\/(server\/src\/(http|routes|cli)|sdk\/src\/http)\//, "HTTP"],
  [/^tests\/(gateway|sdk-nats|carrier)\//, "NATS"],
  [/^tests\/scenarios\/.*\.nats\./, "NATS"],
  [/^packages\/(bus\/src\/nats|sdk\/src\/nats|server\/src\/gateway)\//, "NATS"],
  [/^tests\/hosts\//, "host"],
  [/^packages\/(bridges\/src\/hosts|bridges\/src\/hosts-as-tools|sdk\/src\/host|protocol\/src\/host)\//, "host"],
];

const NAMED = /^\/\/ Doors: (.+)$/m;

/** The doors a test file tries. */
export const doorsOf = (path: string, text: string): readonly Door[] => {
  const named = NAMED.exec(text.slice(0, 2_000))?.[1];
  if (named !== undefined) return DOORS.filter((door) => named.split(", ").includes(door));
  return [PLACES.find(([place]) => place.test(path))?.[1] ?? "in process"];
};

/**
 * Where each clause can be broken from outside. What is not listed is decided inside: a plan, a table, a watchdog.
 * Keys are sections of the protocol; a section has the doors of the longest key it begins with.
 */
const CLAUSE_DOORS: Readonly<Record<string, readonly Door[]>> = {
  "1.1": ["NATS", "in process"],
  "1.2": ["HTTP", "in process"],
  "1.3": ["NATS", "in process"],
  "1.4": ["NATS", "in process"],
  "2.1": ["NATS", "in process"],
  "2.2": ["NATS", "in process"],
  "2.3": ["HTTP", "NATS", "in process"],
  "2.5": ["HTTP", "NATS", "in process"],
  "2.6": ["NATS", "in process"],
  "2.7": ["HTTP", "NATS", "in process"],
  "4.4": ["HTTP", "NATS", "in process"],
  "4.5": ["HTTP", "in process"],
  "4.6": ["HTTP", "in process"],
  "5": ["HTTP", "in process"],
  // What a model is shown of a tool is made inside a step; no request asks for it.
  "5.4": ["in process"],
  "6.1": ["HTTP", "NATS", "in process"],
  "6.2": ["HTTP", "NATS", "in process"],
  "6.4": ["NATS", "in process"],
  "6.5": ["HTTP", "NATS", "in process"],
  "8.3": ["HTTP", "NATS", "in process"],
  "8.4": ["HTTP", "NATS", "in process"],
  "8.5": ["HTTP", "NATS", "in process"],
  "8.6": ["HTTP", "NATS", "in process"],
  // What ends a turn, and what a suspension says, is seen by those who watch the bus.
  "10.3": ["HTTP", "NATS", "in process"],
  "7.5": ["HTTP", "NATS", "in process"],
  "8.10": ["HTTP", "in process"],
  "11": ["HTTP", "in process"],
  // A project's limits are set over HTTP.
  "12": ["HTTP", "in process"],
  "13.1": ["HTTP", "NATS", "in process"],
  "13.2": ["HTTP"],
  // Actions of people that the bus delivers.
  "15 W-28": ["NATS"],
  // A client of the bus that speaks as somebody else, and a service that needs a database.
  "15 W-32": ["NATS"],
  // Inline data: in a command on the bus, in a report or a lease at every door.
  "17 D-05": ["HTTP", "NATS", "in process"],
  "17 D-28": ["host"],
};

const WEAKNESS = "15";
const DISAGREEMENT = "17";

const sectionOfWord = (word: string): string | undefined => {
  const named = /^(?:1[57] )?([DW]-\d+)$/.exec(word)?.[1];
  if (named !== undefined) return `${named.startsWith("W") ? WEAKNESS : DISAGREEMENT} ${named}`;
  return /^\d+(?:\.\d+)*/.exec(word)?.[0];
};

/**
 * Every section a rule keeps: `2.3` and `6.5` of `utp 2.3, 6.5; security 2.2`, `7.5` of `utp 7.5 row 2`, `17 D-28` of
 * `utp 17, D-28` and of `utp D-28`. What comes after a semicolon is another document.
 */
export const sectionsOf = (source: string): readonly string[] => {
  const [own = ""] = source.replace(/^utp /, "").split(";");
  const sections = own
    .split(/,\s*/)
    .map(sectionOfWord)
    .filter((section) => section !== undefined);
  const hasNamed = sections.some((section) => /[DW]-/.test(section));
  const listed = hasNamed ? sections.filter((section) => section !== WEAKNESS && section !== DISAGREEMENT) : sections;
  return listed.length === 0 ? [own.trim()] : [...new Set(listed)];
};

export const clauseDoors = (section: string): readonly Door[] => {
  const keys = Object.keys(CLAUSE_DOORS).filter((key) => section === key || section.startsWith(`${key}.`));
  const longest = keys.sort((a, b) => b.length - a.length)[0];
  return (longest === undefined ? undefined : CLAUSE_DOORS[longest]) ?? ["in process"];
};
