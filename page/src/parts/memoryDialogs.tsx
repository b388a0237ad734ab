/** Looks at a frame of the memory, or deletes it. */

import { listNames } from "../words";
import { Button } from "./controls";
import { Answers, Modal, useClose } from "./modal";
import { useModel, useSession } from "./session";

export function ForgetDialog({ frame }: { frame: number }) {
  const session = useSession();
  const close = useClose();
  const submit = (event: Event) => {
    event.preventDefault();
    session.send({ type: "forget", frame });
    close();
  };
  return (
    <Modal title={`Delete frame ${frame}`}>
      <form onSubmit={submit}>
        <img class="look small" src={`/api/frames/${frame}.jpg`} alt={`Frame ${frame}`} />
        <p>
          The frame leaves the memory now, and the disk at the next checkpoint. This cannot be undone. What the detector
          has learnt from it stays in its weights.
        </p>
        <Answers confirm="Delete" isDanger />
      </form>
    </Modal>
  );
}

export function LookDialog({ frame }: { frame: number }) {
  const session = useSession();
  const { state } = useModel();
  const memory = state?.memory ?? [];
  const place = memory.findIndex((one) => one.frame === frame);
  const one = memory[place];
  const go = (step: number) => {
    const next = memory[(place + step + memory.length) % memory.length];
    if (next) session.change((model) => ({ ...model, dialog: { kind: "look", frame: next.frame } }));
  };
  const press = (event: KeyboardEvent) => {
    if (event.key === "ArrowRight") go(1);
    if (event.key === "ArrowLeft") go(-1);
  };
  return (
    <Modal title={`Frame ${frame}`} isWide onKey={press}>
      <div>
        <img class="look" src={`/api/frames/${frame}.jpg`} alt={`Frame ${frame}: ${listNames(one?.names ?? [])}`} />
        <div class="answers look-foot">
          <span class="muted">{one ? listNames(one.names) || "nothing here" : "not in the memory any more"}</span>
          <Button id="look-previous" icon="left" label="Previous" iconOnly onClick={() => go(-1)} />
          <Button id="look-next" icon="right" label="Next" iconOnly onClick={() => go(1)} />
          {one && (
            <>
              <Button
                id="look-pin"
                icon="pin"
                label={one.pinned ? "Unpin" : "Pin"}
                pressed={one.pinned}
                onClick={() => session.send({ type: "pin", frame, pinned: !one.pinned })}
              />
              <Button
                id="look-forget"
                icon="bin"
                label="Delete"
                kind="danger"
                onClick={() => session.change((model) => ({ ...model, dialog: { kind: "forget", frame } }))}
              />
            </>
          )}
        </div>
      </div>
    </Modal>
  );
}
