/** The frames that want labels, as thumbnails. */

import { useEffect, useRef } from "preact/hooks";
import { shareOf } from "../boxes";
import { colourOf } from "../colours";
import type { LabelRequest } from "../contract";
import { openRequests, pickFrame } from "../model";
import { plural } from "../words";
import { useModel, useSession } from "./session";

export function Queue() {
  const model = useModel();
  const requests = openRequests(model);
  return (
    <section class="card queue" aria-labelledby="queue-title">
      <header class="card-header">
        <h2 id="queue-title">Queue</h2>
        <span class="muted numbers">{requests.length}</span>
      </header>
      <ul class="queue-list" data-testid="queue">
        {requests.map((request) => (
          <Thumbnail key={request.frame} request={request} isCurrent={request.frame === model.current} />
        ))}
      </ul>
    </section>
  );
}

function Thumbnail({ request, isCurrent }: { request: LabelRequest; isCurrent: boolean }) {
  const session = useSession();
  const model = useModel();
  const item = useRef<HTMLLIElement>(null);
  useEffect(() => {
    if (isCurrent) item.current?.scrollIntoView({ block: "nearest", inline: "nearest" });
  }, [isCurrent]);
  const draft = model.drafts[request.frame];
  const boxes = draft?.boxes ?? request.proposals;
  return (
    <li ref={item}>
      <button
        type="button"
        class="thumbnail"
        data-testid={`request-${request.frame}`}
        aria-current={isCurrent}
        onClick={() => session.change((one) => pickFrame(one, request.frame))}
      >
        <span class="thumbnail-picture" style={{ aspectRatio: `${request.size[1]} / ${request.size[0]}` }}>
          <img src={`/api/frames/${request.frame}.jpg`} alt="" width={request.size[1]} height={request.size[0]} />
          {boxes.map(({ box, name }, index) => (
            <span
              key={index}
              class="thumbnail-box"
              style={placeBox(box, request.size, colourOf(name, model.colours))}
            />
          ))}
        </span>
        <span class="thumbnail-text">
          <span class="numbers">
            <span class="unseen">Frame </span>
            {request.frame}
          </span>
          <span class="muted">{draft?.touched ? "draft" : plural(boxes.length, "box", "boxes")}</span>
        </span>
      </button>
    </li>
  );
}

function placeBox(box: LabelRequest["proposals"][number]["box"], size: LabelRequest["size"], colour: string) {
  const { left, top, width, height } = shareOf(box, size);
  return { left: `${left}%`, top: `${top}%`, width: `${width}%`, height: `${height}%`, borderColor: colour };
}
