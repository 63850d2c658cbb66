// An act that is recorded with its reason: cancel, approve, deny, stop.

import { type ReactNode, useState } from "react";
import type { ApiProblem } from "../api/problem.ts";
import { Button } from "./button.tsx";
import { Dialog } from "./dialog.tsx";
import { Field } from "./field.tsx";
import { ProblemNote } from "./problem-note.tsx";

interface ReasonDialogProps {
  readonly title: string;
  readonly act: string;
  readonly isRisky?: boolean;
  readonly isBusy: boolean;
  readonly problem: ApiProblem | undefined;
  readonly onAct: (reason: string) => void;
  readonly onClose: () => void;
  readonly children?: ReactNode;
}

export const ReasonDialog = (props: ReasonDialogProps): ReactNode => {
  const { title, act, isRisky = false, isBusy, problem, onAct, onClose, children } = props;
  const [reason, setReason] = useState("");
  return (
    <Dialog title={title} onClose={onClose}>
      <form
        className="stack"
        onSubmit={(event) => {
          event.preventDefault();
          onAct(reason.trim());
        }}
      >
        <h2>{title}</h2>
        {children}
        <Field label="Reason" note="Shown to everybody who looks at it later; may be left out.">
          {(id, described) => (
            <input
              id={id}
              aria-describedby={described}
              maxLength={500}
              value={reason}
              onChange={(event) => setReason(event.target.value)}
            />
          )}
        </Field>
        {problem !== undefined && <ProblemNote problem={problem} />}
        <div className="acts">
          <Button type="submit" kind={isRisky ? "risky" : "main"} busy={isBusy}>
            {act}
          </Button>
          <Button onClick={onClose}>Leave it</Button>
        </div>
      </form>
    </Dialog>
  );
};
