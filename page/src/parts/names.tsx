/** Chooses the name of a box: a number key, a click, or letters. */

import { useState } from "preact/hooks";
import { LONGEST_NAME } from "../contract";
import { tidyName } from "../drafts";
import * as editing from "../editing";
import { focusSurface } from "../keys";
import { currentDraft } from "../model";
import { nameChoices } from "../view";
import { Name } from "./controls";
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
  const typed = tidyName(text).toLocaleLowerCase();
  const choose = (name: string) => {
    session.change((one) => editing.nameSelected(one, name));
    setText("");
    focusSurface();
  };
  return (
    <div class="row" role="group" aria-label={picked ? "Name of the picked box" : "Name of the next box"}>
      <span class="row-title">{picked ? "Name" : "Next is"}</span>
      <ul class="chips names" data-testid="names">
        {names.map((name, place) =>
          name.toLocaleLowerCase().includes(typed) ? (
            <NameChip key={name} name={name} place={place} isChosen={name === chosen} onChoose={choose} />
          ) : null,
        )}
      </ul>
      <NameField
        text={text}
        onText={setText}
        onEnter={() => choose(matchName(text, names))}
        onLeave={() => choose("")}
      />
    </div>
  );
}

type ChipProps = { name: string; place: number; isChosen: boolean; onChoose(name: string): void };

function NameChip({ name, place, isChosen, onChoose }: ChipProps) {
  return (
    <li class={`chip${isChosen ? " picked" : ""}`}>
      <button type="button" class="chip-main" aria-pressed={isChosen} onClick={() => onChoose(name)}>
        <Name name={name} />
        {place < 9 && <kbd aria-hidden="true">{place + 1}</kbd>}
      </button>
    </li>
  );
}

type FieldProps = { text: string; onText(text: string): void; onEnter(): void; onLeave(): void };

function NameField({ text, onText, onEnter, onLeave }: FieldProps) {
  const press = (event: KeyboardEvent) => {
    if (event.key !== "Enter" && event.key !== "Escape") return;
    event.preventDefault();
    if (event.key === "Enter") onEnter();
    else onLeave();
  };
  return (
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
      onInput={(event) => onText(event.currentTarget.value)}
      onKeyDown={press}
    />
  );
}
