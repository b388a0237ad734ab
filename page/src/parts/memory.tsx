/** The frames that the detector rehearses, to look at, pin and delete. */

import { useState } from "preact/hooks";
import type { RememberedFrame } from "../contract";
import { bytesText, listNames, plural } from "../words";
import { Button, Empty } from "./controls";
import { useModel, useSession } from "./session";

/** A memory may hold thousands: so many pictures are shown at once. */
const PAGE = 60;

export function MemoryView() {
  const { state } = useModel();
  const [filter, setFilter] = useState<Filter>({ isPinnedOnly: false, name: "" });
  const [most, setMost] = useState(PAGE);
  const memory = state?.memory ?? [];
  const names = [...new Set(memory.flatMap((one) => one.names))].sort((one, other) => one.localeCompare(other));
  const frames = memory.filter((one) => fits(one, filter));
  return (
    <section class="card filling" aria-labelledby="memory-title">
      <header class="card-header">
        <h2 id="memory-title">Memory</h2>
        <span class="muted numbers">
          {plural(memory.length, "frame")}, {bytesText(state?.counters.memory_bytes ?? 0)}
        </span>
        <Filters names={names} filter={filter} onFilter={setFilter} />
      </header>
      <p class="card-note">
        The detector rehearses these frames so that it does not forget. A deleted frame leaves the memory now and the
        disk at the next checkpoint. A pinned frame is never replaced.
      </p>
      <Frames frames={frames.slice(0, most)} isEmpty={memory.length === 0} />
      {frames.length > most && (
        <Button id="memory-more" label={`Show more (${frames.length - most})`} onClick={() => setMost(most + PAGE)} />
      )}
    </section>
  );
}

type Filter = { isPinnedOnly: boolean; name: string };

function fits(one: RememberedFrame, { isPinnedOnly, name }: Filter): boolean {
  return (!isPinnedOnly || one.pinned) && (name === "" || one.names.includes(name));
}

type FiltersProps = { names: string[]; filter: Filter; onFilter(filter: Filter): void };

function Filters({ names, filter, onFilter }: FiltersProps) {
  return (
    <div class="filters">
      <label class="check">
        <input
          type="checkbox"
          data-testid="memory-pinned"
          checked={filter.isPinnedOnly}
          onChange={(event) => onFilter({ ...filter, isPinnedOnly: event.currentTarget.checked })}
        />
        <span>Pinned only</span>
      </label>
      <select
        class="field"
        data-testid="memory-name"
        aria-label="Show frames with"
        value={filter.name}
        onChange={(event) => onFilter({ ...filter, name: event.currentTarget.value })}
      >
        <option value="">All names</option>
        {names.map((one) => (
          <option key={one} value={one}>
            {one}
          </option>
        ))}
      </select>
    </div>
  );
}

function Frames({ frames, isEmpty }: { frames: RememberedFrame[]; isEmpty: boolean }) {
  if (frames.length === 0) {
    return (
      <Empty icon="checkpoint" title={isEmpty ? "The memory is empty" : "No frame fits"}>
        {isEmpty ? "Frames come in when they are learnt." : "Choose another name, or show all frames."}
      </Empty>
    );
  }
  return (
    <div class="scroll">
      <ul class="memory" data-testid="memory">
        {frames.map((one) => (
          <Tile key={one.frame} one={one} />
        ))}
      </ul>
    </div>
  );
}

function Tile({ one }: { one: RememberedFrame }) {
  const session = useSession();
  const names = one.names.length > 0 ? listNames(one.names) : "nothing here";
  const open = (kind: "look" | "forget") =>
    session.change((model) => ({ ...model, dialog: { kind, frame: one.frame } }));
  return (
    <li class={`tile${one.pinned ? " pinned" : ""}`} data-testid={`memory-${one.frame}`}>
      <button
        type="button"
        class="tile-picture"
        data-testid={`look-${one.frame}`}
        aria-label={`Look at frame ${one.frame}: ${names}`}
        onClick={() => open("look")}
      >
        <img src={`/api/frames/${one.frame}.jpg`} alt="" loading="lazy" />
      </button>
      <div class="tile-foot">
        <span class="tile-text">
          <span class="tile-names" dir="auto" title={names}>
            {names}
          </span>
          <span class="muted numbers">frame {one.frame}</span>
        </span>
        <Button
          id={`pin-${one.frame}`}
          icon="pin"
          label={one.pinned ? `Unpin frame ${one.frame}` : `Pin frame ${one.frame}`}
          iconOnly
          kind="quiet"
          pressed={one.pinned}
          onClick={() => session.send({ type: "pin", frame: one.frame, pinned: !one.pinned })}
        />
        <Button
          id={`forget-${one.frame}`}
          icon="bin"
          label={`Delete frame ${one.frame}`}
          iconOnly
          kind="quiet"
          onClick={() => open("forget")}
        />
      </div>
    </li>
  );
}
