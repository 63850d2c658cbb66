// What a tool shows while it runs. Parts pass by and are not stored: those that came before the page was opened are not here.

import { type ReactNode, useState } from "react";
import { callOf, kindOf } from "../events/call-event.ts";
import { useEvents } from "../events/event-hub.tsx";
import { plainJson } from "../json/json-page.ts";
import { LongText } from "../json/json-tree.tsx";
import { Section } from "../parts/section.tsx";

const MOST_PARTS = 200;

interface Part {
  readonly index: number;
  readonly text: string;
}

const partText = (part: unknown): string =>
  typeof part === "string" ? part : (JSON.stringify(part) ?? plainJson(part));

export const CallParts = ({ id }: { readonly id: string }): ReactNode => {
  const [parts, setParts] = useState<readonly Part[]>([]);
  useEvents((events) => {
    const own = events.filter((event) => !event.isLogged && kindOf(event) === "part" && callOf(event) === id);
    if (own.length === 0) return;
    const fresh = own.map(({ payload }) => ({
      index: typeof payload.index === "number" ? payload.index : 0,
      text: partText(payload.part),
    }));
    setParts((before) => [...before, ...fresh].slice(-MOST_PARTS));
  });
  if (parts.length === 0) return null;
  return (
    <Section title="While it runs">
      <ol className="parts" aria-live="polite">
        {parts.map(({ index, text }, at) => (
          // biome-ignore lint/suspicious/noArrayIndexKey: a service may send an index twice, and parts never move
          <li key={at}>
            <span className="muted">{index}</span>{" "}
            <code>
              <LongText text={text} />
            </code>
          </li>
        ))}
      </ol>
    </Section>
  );
};
