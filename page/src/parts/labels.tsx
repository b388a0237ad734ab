/** The person's labels, each with what became of it. */

import { type LabelRow, labelRows } from "../view";
import { agoText } from "../words";
import { Button, Empty } from "./controls";
import type { IconName } from "./icons";
import { Icon } from "./icons";
import { useModel, useNow, useSession } from "./session";

const STATES: Record<LabelRow["state"], { icon: IconName; text: string; help: string }> = {
  sending: { icon: "clock", text: "sending", help: "Not acknowledged yet" },
  "taking back": { icon: "undo", text: "taking back", help: "Is being taken back" },
  waiting: { icon: "clock", text: "taken", help: "Taken; will be learnt with the next step" },
  learnt: { icon: "done", text: "learnt", help: "The detector has learnt from it" },
  "not learnt": { icon: "warning", text: "not learnt", help: "Every step with it failed; it is not tried again" },
  "kept aside": { icon: "pin", text: "kept aside", help: "Never learnt: accuracy is measured on it" },
};

export function LabelList() {
  const session = useSession();
  const model = useModel();
  const rows = labelRows(model);
  return (
    <section class="card labels" aria-labelledby="labels-title">
      <header class="card-header">
        <h2 id="labels-title">Your labels</h2>
        <Button
          id="undo"
          icon="undo"
          label="Undo last"
          keys="U"
          kind="quiet"
          disabled={rows.length === 0}
          onClick={() => session.undo()}
        />
      </header>
      {rows.length === 0 ? (
        <Empty icon="accept" title="No label yet">
          Each label appears here when it is taken, and again when it is learnt.
        </Empty>
      ) : (
        <ol class="label-list" data-testid="labels">
          {rows.map((row) => (
            <Row key={row.key} row={row} />
          ))}
        </ol>
      )}
    </section>
  );
}

function Row({ row }: { row: LabelRow }) {
  const session = useSession();
  const now = useNow();
  const state = STATES[row.state];
  const { label } = row;
  return (
    <li
      class={`label-row is-${row.state.replace(" ", "-")}`}
      data-testid={`label-${label ?? "sending"}`}
      data-state={row.state}
    >
      <span class="numbers label-number">{label ?? "…"}</span>
      <span class="label-text">
        <span class="label-names" dir="auto">
          {row.text}
        </span>
        <span class="muted label-detail">
          frame {row.frame}
          {row.time === null ? "" : `, ${agoText(row.time, now)}`}
          {row.isComplete ? "" : ", partly"}
        </span>
      </span>
      <span class="label-state" title={state.help}>
        <Icon name={state.icon} size={15} />
        {state.text}
      </span>
      <Button
        id={`undo-${label ?? "sending"}`}
        icon="undo"
        label={label === null ? "Undo" : `Undo label ${label}`}
        iconOnly
        kind="quiet"
        disabled={label === null || row.state === "taking back"}
        onClick={() => label !== null && session.undoLabel(label)}
      />
    </li>
  );
}
