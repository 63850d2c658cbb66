import { expect, test } from "vitest";
import { createLog } from "./log.ts";
import { maskSecrets } from "./mask-secrets.ts";

const hex = (length: number): string => "0123456789abcdef".repeat(8).slice(0, length);

test.each([
  [`tp_${hex(12)}_${hex(64)}`, `tp_${hex(12)}_***`],
  [`tps_${hex(16)}_${hex(64)}`, `tps_${hex(16)}_***`],
  [`http://127.0.0.1:7420/#login=${hex(64)}`, "http://127.0.0.1:7420/#login=***"],
  ["Authorization: Bearer abcdefghijkl", "Authorization: Bearer ***"],
  ["whsec_MfKQ9r8GKYqrTwjUPD8I", "whsec_***"],
  ["postgresql://me:hunter2@db:5432/x", "postgresql://me:***@db:5432/x"],
  ["http://127.0.0.1:7420/health", "http://127.0.0.1:7420/health"],
  ["the bearer of news", "the bearer of news"],
  [`trace ${hex(32)} of turn_${hex(32)}`, `trace ${hex(32)} of turn_${hex(32)}`],
])("[SEC-7-LOG1] %s is shown as %s", (line, shown) => {
  expect(maskSecrets(line)).toBe(shown);
});

test.each([true, false])("[SEC-7-LOG1] a secret in a field or a message is masked (pretty: %s)", (pretty) => {
  const lines: string[] = [];
  const log = createLog({ write: (line) => void lines.push(line), pretty, level: "info" });
  log.warn(`refused tp_${hex(12)}_${hex(64)}`, {
    url: `postgresql://me:hunter2@db/x`,
    deep: { cookie: `tps_${hex(16)}_${hex(64)}` },
  });
  expect(lines.join("")).not.toMatch(new RegExp(`${hex(64)}|hunter2`));
  expect(lines.join("")).toContain(`tp_${hex(12)}_***`);
});
