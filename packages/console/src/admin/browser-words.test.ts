import { expect, test } from "vitest";
import { browserWords } from "./browser-words.ts";

test.each([
  [
    "Mozilla/5.0 (X11; Linux x86_64) AppleWebKit/537.36 (KHTML, like Gecko) HeadlessChrome/140.0.0.0 Safari/537.36",
    "Chrome 140 on Linux",
  ],
  ["Mozilla/5.0 (Windows NT 10.0) AppleWebKit/537.36 Chrome/140.0.0.0 Safari/537.36 Edg/140.0", "Edge 140 on Windows"],
  ["Mozilla/5.0 (Macintosh; Intel Mac OS X 10_15_7) AppleWebKit/605 Version/18.1 Safari/605.1", "Safari 18 on macOS"],
  ["Mozilla/5.0 (Android 14; Mobile; rv:130.0) Gecko/130.0 Firefox/130.0", "Firefox 130 on Android"],
  ["curl/8.5.0", "curl/8.5.0"],
  [null, "unknown browser"],
])("%s", (said, words) => {
  expect(browserWords(said)).toBe(words);
});
