/** Renames a class, or merges it into another. */

import { useState } from "preact/hooks";
import { LONGEST_NAME } from "../contract";
import { tidyName } from "../drafts";
import { plural } from "../words";
import { Answers, Modal, useClose } from "./modal";
import { useModel, useSession } from "./session";

export function RenameDialog({ name }: { name: string }) {
  const session = useSession();
  const { state } = useModel();
  const close = useClose();
  const [text, setText] = useState(name);
  const to = tidyName(text);
  const isTaken = to !== name && (state?.classes ?? []).some((one) => one.name === to);
  const submit = (event: Event) => {
    event.preventDefault();
    if (to === "" || isTaken) return;
    if (to !== name) session.send({ type: "rename", name, to });
    close();
  };
  return (
    <Modal title={`Rename ${name}`}>
      <form onSubmit={submit}>
        <label class="labelled">
          <span>New name</span>
          <input
            class="field"
            data-testid="rename-to"
            dir="auto"
            value={text}
            maxLength={LONGEST_NAME}
            autocomplete="off"
            onInput={(event) => setText(event.currentTarget.value)}
          />
        </label>
        {isTaken && (
          <p class="problem">
            There is a class {to}. Merge {name} into it instead.
          </p>
        )}
        <Answers confirm="Rename" isReady={to !== "" && !isTaken} />
      </form>
    </Modal>
  );
}

export function MergeDialog({ name }: { name: string }) {
  const session = useSession();
  const { state } = useModel();
  const close = useClose();
  const others = (state?.classes ?? []).map((one) => one.name).filter((one) => one !== name);
  const boxes = state?.classes.find((one) => one.name === name)?.boxes ?? 0;
  const [into, setInto] = useState(others[0] ?? "");
  const submit = (event: Event) => {
    event.preventDefault();
    if (into === "") return;
    session.send({ type: "merge", name, into });
    close();
  };
  return (
    <Modal title={`Merge ${name} into another class`}>
      <form onSubmit={submit}>
        <label class="labelled">
          <span>Into</span>
          <select
            class="field"
            data-testid="merge-into"
            value={into}
            onChange={(event) => setInto(event.currentTarget.value)}
          >
            {others.map((one) => (
              <option key={one} value={one}>
                {one}
              </option>
            ))}
          </select>
        </label>
        <p class="muted">
          {plural(boxes, "box", "boxes")} of {name} will count as {into}. The name {name} goes.
        </p>
        <Answers confirm="Merge" isReady={into !== ""} />
      </form>
    </Modal>
  );
}
