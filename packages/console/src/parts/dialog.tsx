// A question that has to be answered first. The browser's own dialog keeps the focus inside and closes with Escape.

import { type ReactNode, useEffect, useRef } from "react";

interface DialogProps {
  readonly title: string;
  readonly onClose: () => void;
  readonly children: ReactNode;
  readonly className?: string;
}

export const Dialog = ({ title, onClose, children, className }: DialogProps): ReactNode => {
  const box = useRef<HTMLDialogElement>(null);
  useEffect(() => {
    const dialog = box.current;
    if (dialog !== null && !dialog.open) dialog.showModal();
    return () => dialog?.close();
  }, []);
  return (
    <dialog ref={box} className={`dialog ${className ?? ""}`} aria-label={title} onClose={onClose}>
      {children}
    </dialog>
  );
};
