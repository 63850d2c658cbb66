// What came back: the result as it is, and the views that the tool made of it. `display` is for people, `model` is what a model read.

import { type ReactNode, useState } from "react";
import { isRecord } from "../api/problem.ts";
import { LongText } from "../json/json-tree.tsx";
import { ValueView } from "../json/value-view.tsx";
import { Text } from "../text/text.tsx";
import { visibleText } from "../text/visible-text.ts";
import type { ViewsBody } from "./call-body.ts";

const NAME_CHARS = 64;

/** An object that a tool made for people: its texts as texts, everything else as a tree. */
const DisplayView = ({ display }: { readonly display: Readonly<Record<string, unknown>> }): ReactNode => (
  <dl className="display">
    {Object.entries(display).map(([name, value]) => (
      <div key={name}>
        <dt className={typeof value === "string" ? undefined : "visually-hidden"}>
          <Text most={NAME_CHARS}>{name}</Text>
        </dt>
        <dd>
          {typeof value === "string" ? (
            <LongText text={value} />
          ) : (
            <ValueView label={visibleText(name.slice(0, NAME_CHARS))} value={value} />
          )}
        </dd>
      </div>
    ))}
  </dl>
);

interface ResultViewsProps {
  readonly result: unknown;
  readonly views: ViewsBody | undefined;
}

export const ResultViews = ({ result, views }: ResultViewsProps): ReactNode => {
  const [shown, setShown] = useState<"result" | "display" | "model">(isRecord(views?.display) ? "display" : "result");
  const choices = [
    ["display", "Display", isRecord(views?.display)],
    ["result", "Result", true],
    ["model", "What the model reads", views?.model !== undefined],
  ] as const;
  const offered = choices.filter(([, , isThere]) => isThere);
  return (
    <>
      {offered.length > 1 && (
        <fieldset className="switch" aria-label="Views of the result">
          {offered.map(([name, words]) => (
            <button key={name} type="button" aria-pressed={shown === name} onClick={() => setShown(name)}>
              {words}
            </button>
          ))}
        </fieldset>
      )}
      {shown === "display" && isRecord(views?.display) && <DisplayView display={views.display} />}
      {shown === "model" && <ValueView label="What the model reads" value={views?.model} />}
      {shown === "result" && <ValueView label="Result" value={result} />}
    </>
  );
};
