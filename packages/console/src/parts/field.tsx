// A labelled input with its note and what is wrong with it.

import { type ReactNode, useId } from "react";
import { Text } from "../text/text.tsx";

interface FieldProps {
  readonly label: string;
  readonly note?: string | undefined;
  readonly wrong?: string | undefined;
  readonly isRequired?: boolean;
  /** Draws the input with this id, described by the note and the mistake. */
  readonly children: (id: string, described: string) => ReactNode;
}

export const Field = ({ label, note, wrong, isRequired = false, children }: FieldProps): ReactNode => {
  const id = useId();
  return (
    <div className="field">
      <label htmlFor={id}>
        <Text>{label}</Text>
        {isRequired && <span className="needed"> needed</span>}
      </label>
      {children(id, `${id}-note ${id}-wrong`)}
      {note !== undefined && (
        <p className="note" id={`${id}-note`}>
          <Text most={500}>{note}</Text>
        </p>
      )}
      {wrong !== undefined && (
        <p className="wrong" id={`${id}-wrong`} role="alert">
          <Text most={500}>{wrong}</Text>
        </p>
      )}
    </div>
  );
};
