/** Where a frame is labelled: the picture, its boxes, their names, and what to do with it. */

import type { LabelRequest } from "../contract";
import * as editing from "../editing";
import { perform } from "../keys";
import { changeZoom, currentDraft, currentRequest, pickNeighbour } from "../model";
import { Stage } from "../stage/stage";
import { placeInQueue } from "../view";
import { agoText, countText, scoreText } from "../words";
import { Button, Empty, Name } from "./controls";
import { Icon } from "./icons";
import { LiveCard } from "./live";
import { NameRow } from "./names";
import { Queue } from "./queue";
import { useModel, useNow, useSession } from "./session";

/** What the centre of the label view shows: a frame, or the live picture if nobody asks for a label. */
export function LabelView() {
  const model = useModel();
  const request = currentRequest(model);
  if (!model.state) return <Connecting />;
  if (!request) return <Waiting />;
  return (
    <div class="label-view">
      <Queue />
      <Workbench request={request} />
    </div>
  );
}

function Connecting() {
  return (
    <section class="card filling">
      <Empty icon="clock" title="Connecting to leocod live">
        The page shows the run as soon as the server answers.
      </Empty>
    </section>
  );
}

function Waiting() {
  const { state } = useModel();
  if (!state) return null;
  const isOver = state.status === "ended" || state.source.status === "ended";
  return (
    <div class="waiting" data-testid="empty-queue">
      <LiveCard isLarge />
      <div class="card waiting-words">
        <span class="empty-icon">
          <Icon name={isOver ? "done" : "clock"} size={22} />
        </span>
        <div>
          <strong>{isOver ? "No more frames want a label" : "No frame wants a label now"}</strong>
          <p class="muted">
            {isOver
              ? "The stream is over. Your labels and the detector are kept."
              : "The detector picks the frames that teach it most. The next one appears here by itself."}
          </p>
        </div>
      </div>
    </div>
  );
}

function Workbench({ request }: { request: LabelRequest }) {
  return (
    <section class="card workbench" aria-labelledby="frame-title">
      <FrameHeader request={request} />
      <Stage request={request} />
      <Hint />
      <BoxRow />
      <NameRow />
      <Decisions />
    </section>
  );
}

function FrameHeader({ request }: { request: LabelRequest }) {
  const session = useSession();
  const model = useModel();
  const now = useNow();
  const place = placeInQueue(model);
  return (
    <header class="card-header frame-header">
      <h2 id="frame-title" data-testid="frame-title">
        Frame {request.frame}
      </h2>
      <span class="muted numbers">
        step {countText(request.step)} · asked {agoText(request.asked, now)}
      </span>
      <ZoomButtons />
      <div class="group" role="group" aria-label="Frame">
        <Button
          id="previous-frame"
          icon="left"
          label="Previous frame"
          iconOnly
          kind="quiet"
          keys=","
          onClick={() => session.change((one) => pickNeighbour(one, -1))}
        />
        <span class="numbers place" data-testid="place">
          {place ? `${place.place} of ${place.of}` : ""}
        </span>
        <Button
          id="next-frame"
          icon="right"
          label="Next frame"
          iconOnly
          kind="quiet"
          keys="."
          onClick={() => session.change((one) => pickNeighbour(one, 1))}
        />
      </div>
    </header>
  );
}

function ZoomButtons() {
  const session = useSession();
  const model = useModel();
  const zoom = (direction: 1 | -1 | 0) => session.change((one) => changeZoom(one, direction));
  return (
    <div class="group zoom" role="group" aria-label="Zoom">
      <Button id="zoom-out" icon="minus" label="Zoom out" iconOnly kind="quiet" keys="-" onClick={() => zoom(-1)} />
      <button
        type="button"
        class="button quiet numbers zoom-value"
        data-testid="zoom-fit"
        title="Fit (0)"
        onClick={() => zoom(0)}
      >
        {model.zoom === 1 ? "Fit" : `${model.zoom}×`}
      </button>
      <Button id="zoom-in" icon="plus" label="Zoom in" iconOnly kind="quiet" keys="+" onClick={() => zoom(1)} />
    </div>
  );
}

/** One line below the picture: what the keys do now. */
function Hint() {
  const model = useModel();
  const { placing, selected } = model;
  const isNameless = currentDraft(model)?.boxes.find(({ id }) => id === selected)?.name === "";
  const text =
    placing !== null
      ? "Placing a box: arrows move it, Shift and arrows resize it, Enter places it, Esc removes it."
      : isNameless
        ? "This box has no name yet: press a number, or E to type a name."
        : selected !== null
          ? "Drag a corner or use arrows. A number or E names the box, Delete removes it, Esc lets go."
          : "Drag to draw a box. Click a box or press Tab to pick it.";
  return (
    <p class={`hint${placing === null && !isNameless ? "" : " strong"}`} id="stage-hint" data-testid="hint">
      {text}
    </p>
  );
}

function BoxRow() {
  const session = useSession();
  const model = useModel();
  const boxes = currentDraft(model)?.boxes ?? [];
  return (
    <div class="row" role="group" aria-label="Boxes in this frame">
      <span class="row-title">Boxes</span>
      <ul class="chips" data-testid="boxes">
        {boxes.map(({ id, name, score }) => (
          <li class={`chip${id === model.selected ? " picked" : ""}`} key={id}>
            <button
              type="button"
              class="chip-main"
              aria-pressed={id === model.selected}
              onClick={() => session.change((one) => editing.selectBox(one, id === one.selected ? null : id))}
            >
              {name === "" ? <em>no name</em> : <Name name={name} />}
              {score !== null && <span class="muted numbers">{scoreText(score)}</span>}
            </button>
            <button
              type="button"
              class="chip-remove"
              aria-label={`Remove the box ${name}`}
              onClick={() => session.change((one) => editing.removeBox(one, id))}
            >
              <Icon name="remove" size={14} />
            </button>
          </li>
        ))}
        {boxes.length === 0 && <li class="muted">none</li>}
      </ul>
      <Button
        id="draw"
        icon="draw"
        label="Draw"
        keys="D"
        kind="quiet"
        onClick={() => perform({ edit: "place" }, session)}
      />
    </div>
  );
}

function Decisions() {
  const session = useSession();
  const model = useModel();
  const draft = currentDraft(model);
  const isComplete = draft?.complete ?? true;
  return (
    <footer class="decisions">
      <Button
        id="accept"
        icon="accept"
        label="Accept"
        keys="Enter"
        kind="primary"
        onClick={() => perform({ do: "accept" }, session)}
      />
      <Button id="nothing" icon="nothing" label="Nothing here" keys="N" onClick={() => session.nothingHere()} />
      <Button id="skip" icon="skip" label="Skip" keys="S" onClick={() => session.skip()} />
      <label class="check" title="Off: only some objects are marked. The rest is not taught as background.">
        <input
          type="checkbox"
          data-testid="complete"
          checked={isComplete}
          onChange={() => session.change(editing.toggleComplete)}
        />
        <span>All objects are marked</span>
        <kbd aria-hidden="true">C</kbd>
      </label>
    </footer>
  );
}
