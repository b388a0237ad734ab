/** Chooses the name of a box: a number key, a click, or letters. */

import { useState } from "preact/hooks";
import { LONGEST_NAME } from "../contract";
import { tidyName } from "../drafts";
import * as editing from "../editing";
import { focusSurface } from "../keys";
import { currentDraft } from "../model";
import { nameChoices } from "../view";
import { Swatch } from "./controls";
import { useModel, useSession } from "./session";

/** An old name in other letters is the old name: nobody wants both `Mug` and `mug` by accident. */
export function matchName(text: string, names: readonly string[]): string {
  const tidy = tidyName(text);
  return names.find((name) => name === tidy) ?? names.find((name) => isAlike(name, tidy)) ?? tidy;
}

function isAlike(one: string, other: string): boolean {
  return one.toLocaleLowerCase() === other.toLocaleLowerCase();
}

export function NameRow() {
  const session = useSession();
  const model = useModel();
  const [text, setText] = useState("");
  const names = nameChoices(model);
  const picked = currentDraft(model)?.boxes.find(({ id }) => id === model.selected);
  const chosen = picked ? picked.name : model.nextName;
  const tidy = tidyName(text).toLocaleLowerCase();
  const choose = (name: string) => {
    session.change((one) => editing.nameSelected(one, name));
    setText("");
    focusSurface();
  };
  const press = (event: KeyboardEvent) => {
    if (event.key === "Enter" && tidyName(text) !== "") choose(matchName(text, names));
    else if (event.key === "Enter" || event.key === "Escape") choose("");
    else return;
    event.preventDefault();
  };
  return (
    <div class="row" role="group" aria-label={picked ? "Name of the picked box" : "Name of the next box"}>
      <span class="row-title">{picked ? "Name" : "Next is"}</span>
      <ul class="chips names" data-testid="names">
        {names.map((name, place) =>
          name.toLocaleLowerCase().includes(tidy) ? (
            <li class={`chip${name === chosen ? " picked" : ""}`} key={name}>
              <button type="button" class="chip-main" aria-pressed={name === chosen} onClick={() => choose(name)}>
                <Swatch name={name} />
                <span class="name-text" dir="auto">
                  {name}
                </span>
                {place < 9 && <kbd aria-hidden="true">{place + 1}</kbd>}
              </button>
            </li>
          ) : null,
        )}
      </ul>
      <input
        id="name-input"
        data-testid="name-input"
        class="field name-field"
        type="text"
        dir="auto"
        value={text}
        maxLength={LONGEST_NAME}
        autocomplete="off"
        spellcheck={false}
        placeholder="New name…  (E)"
        aria-label="Type a name, old or new"
        onInput={(event) => setText(event.currentTarget.value)}
        onKeyDown={press}
      />
    </div>
  );
}
