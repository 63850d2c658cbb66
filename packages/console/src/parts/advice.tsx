// What to do next, in the words of the API; a command stands apart, to be copied.

import type { ReactNode } from "react";
import { Text } from "../text/text.tsx";
import { planAdvice, whyWords } from "../text/why-words.ts";

export const AdviceNote = ({ children }: { readonly children: string }): ReactNode => {
  const { words, command } = planAdvice(children);
  return (
    <p className="todo">
      <Text most={2_000}>{words}</Text>
      {command !== undefined && (
        <>
          {" "}
          <code className="code">
            <Text most={500}>{command}</Text>
          </code>
        </>
      )}
    </p>
  );
};

export const WhyText = ({ children }: { readonly children: string }): ReactNode => (
  <Text most={4_000}>{whyWords(children, new Date())}</Text>
);
