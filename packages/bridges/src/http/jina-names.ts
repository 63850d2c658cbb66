// What the Jina services call their parameters. The reader takes the options of a GET from headers only: its query string becomes
// part of the address that it reads. Names are compared without case, dashes, underscores and a leading `x-`, so that `X-No-Cache`,
// `noCache` and `no_cache` are one.

/** Options of the reader that have a header. */
const READER_HEADERS = [
  "X-Respond-With",
  "X-No-Cache",
  "X-Cache-Tolerance",
  "X-Timeout",
  "X-Target-Selector",
  "X-Wait-For-Selector",
  "X-Remove-Selector",
  "X-Token-Budget",
  "X-Max-Tokens",
  "X-With-Links-Summary",
  "X-With-Images-Summary",
  "X-With-Generated-Alt",
  "X-Retain-Links",
  "X-Retain-Images",
  "X-With-Iframe",
  "X-With-Shadow-Dom",
  "X-Set-Cookie",
  "X-User-Agent",
  "X-Referer",
  "X-Locale",
  "X-Proxy",
  "X-Proxy-Url",
  "X-Engine",
  "X-Base",
  "X-Robots-Txt",
  "X-No-Gfm",
  "X-Markdown-Chunking",
  "X-Respond-Timing",
  "X-Remove-Overlay",
  "X-Keep-Img-Data-Url",
] as const;

const SEARCH_PARAMETERS = [
  "q",
  "type",
  "num",
  "count",
  "provider",
  "engine",
  "gl",
  "hl",
  "location",
  "page",
  "fallback",
  "nfpr",
  "site",
  "ext",
  "filetype",
  "intitle",
  "loc",
  "with_favicons",
] as const;

/** How an option of Markdown is written begins so: `X-Md-Heading-Style`. */
const MARKDOWN = "X-Md-";

const fold = (name: string): string =>
  name
    .toLowerCase()
    .replace(/^x[-_]/u, "")
    .replaceAll(/[-_]/gu, "");

const BY_NAME: ReadonlyMap<string, string> = new Map([
  ...READER_HEADERS.map((header) => [fold(header), header] as const),
  // Another name of the same option, and a header without the usual beginning.
  ["returnformat", "X-Respond-With"],
  ["setcookies", "X-Set-Cookie"],
  ["dnt", "DNT"],
]);

const dashed = (name: string): string =>
  name
    .replaceAll(/([a-z0-9])([A-Z])/gu, "$1-$2")
    .replaceAll("_", "-")
    .toLowerCase();

/** The header of a reader's option; undefined when it has none. */
export const readerHeader = (name: string): string | undefined => {
  const known = BY_NAME.get(fold(name));
  if (known !== undefined) return known;
  const spelled = dashed(name).replace(/^x-/u, "");
  return /^md-[a-z][a-z-]{0,40}$/u.test(spelled) ? `${MARKDOWN}${spelled.slice("md-".length)}` : undefined;
};

const KNOWN: ReadonlySet<string> = new Set([...SEARCH_PARAMETERS.map(fold), ...BY_NAME.keys()]);

/** Whether the services know a parameter of this name. */
export const isJinaParameter = (name: string): boolean => KNOWN.has(fold(name)) || readerHeader(name) !== undefined;
