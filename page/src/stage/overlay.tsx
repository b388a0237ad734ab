/** Colours, names and scores of the boxes. Annotorious below moves them; a strict page forbids it to colour them. */

import { useEffect, useRef } from "preact/hooks";
import { shareOf } from "../boxes";
import { colourOf, LETTERS_ON_COLOUR } from "../colours";
import type { Draft, DraftBox } from "../drafts";
import { useModel } from "../parts/session";
import { scoreText } from "../words";

export function Overlay({ draft }: { draft: Draft }) {
  const { selected } = useModel();
  return (
    <div class="overlay" aria-hidden="true">
      <Crosshair />
      {draft.boxes.map((box) => (
        <Marked key={box.id} box={box} draft={draft} isPicked={box.id === selected} />
      ))}
    </div>
  );
}

function Marked({ box, draft, isPicked }: { box: DraftBox; draft: Draft; isPicked: boolean }) {
  const { colours } = useModel();
  const colour = colourOf(box.name, colours);
  const { left, top, width, height } = shareOf(box.box, draft.size);
  const place = { left: `${left}%`, top: `${top}%`, width: `${width}%`, height: `${height}%`, "--colour": colour };
  // At the top of the picture there is no room above the box, at its right none beside it.
  const where = `${top < 6 ? " inside" : ""}${left > 70 ? " to-left" : ""}`;
  return (
    <div class={`marked${isPicked ? " picked" : ""}${where}`} data-testid="box" data-name={box.name} style={place}>
      <span class="tag" style={{ color: LETTERS_ON_COLOUR }}>
        <span class="tag-name" dir="auto">
          {box.name === "" ? "no name" : box.name}
        </span>
        {box.score !== null && <span class="tag-score">{scoreText(box.score)}</span>}
      </span>
    </div>
  );
}

/** Two lines through the pointer: they show where a new box would begin. */
function Crosshair() {
  const across = useRef<HTMLSpanElement>(null);
  const down = useRef<HTMLSpanElement>(null);
  useEffect(() => {
    const picture = across.current?.closest<HTMLElement>(".stage-picture");
    if (!picture) return;
    const move = (event: PointerEvent) => {
      const bounds = picture.getBoundingClientRect();
      const isDrawing = event.pointerType === "mouse";
      if (across.current) across.current.style.top = `${event.clientY - bounds.top}px`;
      if (down.current) down.current.style.left = `${event.clientX - bounds.left}px`;
      picture.classList.toggle("aimed", isDrawing);
    };
    const leave = () => picture.classList.remove("aimed");
    picture.addEventListener("pointermove", move);
    picture.addEventListener("pointerleave", leave);
    return () => {
      picture.removeEventListener("pointermove", move);
      picture.removeEventListener("pointerleave", leave);
    };
  }, []);
  return (
    <>
      <span class="aim across" ref={across} />
      <span class="aim down" ref={down} />
    </>
  );
}
