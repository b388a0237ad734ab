/** The frame of every dialog. */

import type { ComponentChildren } from "preact";
import { useLayoutEffect, useRef } from "preact/hooks";
import { Button } from "./controls";
import { useSession } from "./session";

export function useClose(): () => void {
  const session = useSession();
  return () => session.change((model) => ({ ...model, dialog: null }));
}

type ModalProps = {
  title: string;
  isWide?: boolean;
  onKey?(event: KeyboardEvent): void;
  children: ComponentChildren;
};

export function Modal({ title, isWide = false, onKey, children }: ModalProps) {
  const element = useRef<HTMLDialogElement>(null);
  const close = useClose();
  // Not `useEffect`: a dialog that is closed before it goes gives the focus back to where it was.
  useLayoutEffect(() => {
    const dialog = element.current;
    dialog?.showModal();
    return () => dialog?.close();
  }, []);
  return (
    <dialog
      ref={element}
      class={isWide ? "wide" : ""}
      aria-labelledby="dialog-title"
      data-testid="dialog"
      onCancel={close}
      onKeyDown={onKey}
    >
      <header class="card-header">
        <h2 id="dialog-title">{title}</h2>
        <Button id="dialog-close" icon="remove" label="Close" iconOnly kind="quiet" onClick={close} />
      </header>
      <div class="dialog-body">{children}</div>
    </dialog>
  );
}

export function Answers({
  confirm,
  isReady = true,
  isDanger = false,
}: {
  confirm: string;
  isReady?: boolean;
  isDanger?: boolean;
}) {
  const close = useClose();
  return (
    <div class="answers">
      <Button id="cancel" label="Cancel" onClick={close} />
      <button
        type="submit"
        class={`button ${isDanger ? "danger" : "primary"}`}
        data-testid="confirm"
        disabled={!isReady}
      >
        {confirm}
      </button>
    </div>
  );
}
