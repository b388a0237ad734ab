/** The classes: what the detector can tell apart, and how well. */

import type { ObjectClass } from "../contract";
import { agoText, countText, plural, pointsText } from "../words";
import { ApBar, Button, Empty, Name } from "./controls";
import { useModel, useNow, useSession } from "./session";

export function ClassesView() {
  const { state } = useModel();
  const classes = state?.classes ?? [];
  return (
    <section class="card filling" aria-labelledby="classes-title">
      <header class="card-header">
        <h2 id="classes-title">Classes</h2>
        <span class="muted">{plural(classes.length, "class", "classes")}</span>
      </header>
      {classes.length === 0 ? (
        <Empty icon="draw" title="No class yet">
          Draw a box and give it a name: that makes a class.
        </Empty>
      ) : (
        <div class="scroll">
          <table class="table" data-testid="classes">
            <thead>
              <tr>
                <th scope="col">Name</th>
                <th scope="col" class="right">
                  Labels
                </th>
                <th scope="col" class="right">
                  Boxes
                </th>
                <th scope="col">Last seen</th>
                <th scope="col">AP50</th>
                <th scope="col">
                  <span class="unseen">Change</span>
                </th>
              </tr>
            </thead>
            <tbody>
              {classes.map((one) => (
                <ClassRow key={one.name} one={one} isOnly={classes.length === 1} />
              ))}
            </tbody>
          </table>
        </div>
      )}
    </section>
  );
}

function ClassRow({ one, isOnly }: { one: ObjectClass; isOnly: boolean }) {
  const session = useSession();
  const now = useNow();
  const open = (kind: "rename" | "merge") =>
    session.change((model) => ({ ...model, dialog: { kind, name: one.name } }));
  return (
    <tr data-testid="class" data-name={one.name}>
      <th scope="row">
        <span class="class-name">
          <Name name={one.name} />
          {one.from_start && (
            <span class="mark" title="The detector knew it before this run">
              from the start
            </span>
          )}
        </span>
      </th>
      <td class="right numbers">{countText(one.labels)}</td>
      <td class="right numbers">{countText(one.boxes)}</td>
      <td>{agoText(one.last_seen, now)}</td>
      <td>
        <span class="bar">
          {one.ap !== null && <span class="numbers bar-value">{pointsText(one.ap)}</span>}
          <ApBar name={one.name} ap={one.ap} />
        </span>
      </td>
      <td class="right actions">
        <Button id="rename" icon="rename" label="Rename" about={one.name} kind="quiet" onClick={() => open("rename")} />
        <Button
          id="merge"
          icon="merge"
          label="Merge"
          about={one.name}
          kind="quiet"
          disabled={isOnly}
          onClick={() => open("merge")}
        />
      </td>
    </tr>
  );
}
