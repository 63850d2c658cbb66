// The name that a browser gives itself, as people say it: "Firefox 130 on Linux". Pure.

const BROWSERS: readonly (readonly [string, RegExp])[] = [
  ["Edge", /\bEdg\/(\d+)/u],
  ["Opera", /\bOPR\/(\d+)/u],
  ["Firefox", /\bFirefox\/(\d+)/u],
  ["Chrome", /\b(?:Headless)?Chrome\/(\d+)/u],
  ["Safari", /\bVersion\/(\d+).*\bSafari\//u],
];
const SYSTEMS: readonly (readonly [string, RegExp])[] = [
  ["Android", /\bAndroid\b/u],
  ["iOS", /\b(?:iPhone|iPad)\b/u],
  ["Windows", /\bWindows\b/u],
  ["macOS", /\bMac OS X\b/u],
  ["Linux", /\bLinux\b/u],
];

export const browserWords = (said: string | null): string => {
  if (said === null || said === "") return "unknown browser";
  const found = BROWSERS.flatMap(([name, pattern]) => {
    const version = pattern.exec(said)?.[1];
    return version === undefined ? [] : [`${name} ${version}`];
  })[0];
  const system = SYSTEMS.find(([, pattern]) => pattern.test(said))?.[0];
  return found === undefined ? said : [found, system].filter(Boolean).join(" on ");
};
