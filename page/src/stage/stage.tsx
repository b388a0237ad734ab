/** The picture that is being labelled, and its boxes. */

import { useEffect, useLayoutEffect, useRef, useState } from "preact/hooks";
import { colourOf } from "../colours";
import type { LabelRequest } from "../contract";
import * as editing from "../editing";
import { askForName, focusSurface } from "../keys";
import { changeZoom, currentDraft } from "../model";
import { Empty } from "../parts/controls";
import { useModel, useSession } from "../parts/session";
import { BoxEditor } from "./boxEditor";
import { Overlay } from "./overlay";

type Place = { width: number; height: number };

export function Stage({ request }: { request: LabelRequest }) {
  const viewport = useRef<HTMLDivElement>(null);
  const place = usePlace(viewport);
  const { zoom } = useModel();
  const [height, width] = request.size;
  const scale = place ? Math.min(place.width / width, place.height / height) * zoom : 0;
  useSteadyZoom(viewport, request, scale);
  useWheelZoom(viewport);
  return (
    <div class="stage" ref={viewport} data-testid="stage">
      {place && (
        <div class="stage-picture" style={{ width: `${width * scale}px`, height: `${height * scale}px` }}>
          <Surface key={request.frame} request={request} />
        </div>
      )}
    </div>
  );
}

/** How much room there is; measured again when the window changes. */
function usePlace(element: { current: HTMLElement | null }): Place | null {
  const [place, setPlace] = useState<Place | null>(null);
  useLayoutEffect(() => {
    if (!element.current) return;
    const measured = element.current;
    const measure = () => {
      // Without the scroll bars: they come and go with the zoom, and must not change what "fit" means.
      const { offsetWidth, offsetHeight } = measured;
      setPlace({ width: Math.max(1, offsetWidth - 2), height: Math.max(1, offsetHeight - 2) });
    };
    measure();
    const observer = new ResizeObserver(measure);
    observer.observe(measured);
    return () => observer.disconnect();
  }, []);
  return place;
}

/** Zooming keeps what is in the middle in the middle; a picked box comes into the middle. */
function useSteadyZoom(viewport: { current: HTMLElement | null }, request: LabelRequest, scale: number): void {
  const model = useModel();
  const before = useRef(scale);
  useLayoutEffect(() => {
    const view = viewport.current;
    const old = before.current;
    before.current = scale;
    if (!view || old === 0 || old === scale) return;
    const [height, width] = request.size;
    const picked = currentDraft(model)?.boxes.find(({ id }) => id === model.selected)?.box;
    const wasWhole = view.clientWidth >= width * old && view.clientHeight >= height * old;
    const middle = picked
      ? [(picked[0] + picked[2]) / 2, (picked[1] + picked[3]) / 2]
      : wasWhole
        ? [width / 2, height / 2]
        : [(view.scrollLeft + view.clientWidth / 2) / old, (view.scrollTop + view.clientHeight / 2) / old];
    view.scrollLeft = (middle[0] ?? 0) * scale - view.clientWidth / 2;
    view.scrollTop = (middle[1] ?? 0) * scale - view.clientHeight / 2;
  }, [scale]);
}

/** Ctrl and the wheel zoom, as in every tool with pictures. */
function useWheelZoom(viewport: { current: HTMLElement | null }): void {
  const session = useSession();
  useEffect(() => {
    const turn = (event: WheelEvent) => {
      if (!event.ctrlKey && !event.metaKey) return;
      event.preventDefault();
      session.change((one) => changeZoom(one, event.deltaY < 0 ? 1 : -1));
    };
    const view = viewport.current;
    view?.addEventListener("wheel", turn, { passive: false });
    return () => view?.removeEventListener("wheel", turn);
  }, []);
}

type Status = "loading" | "ready" | "gone";

function Surface({ request }: { request: LabelRequest }) {
  const model = useModel();
  const host = useRef<HTMLDivElement>(null);
  const draft = currentDraft(model);
  const picked = draft?.boxes.find(({ id }) => id === model.selected);
  const { editor, status } = useBoxEditor(host, request);

  useLayoutEffect(() => {
    if (draft) editor.current?.mirror(draft.boxes, model.selected);
  }, [status, draft?.boxes, model.selected]);

  useLayoutEffect(() => {
    host.current?.style.setProperty("--picked", colourOf(picked?.name ?? "", model.colours));
  }, [picked?.name, model.colours]);

  return (
    <>
      <div class="stage-host" ref={host} data-status={status} />
      {status === "ready" && draft && <Overlay draft={draft} />}
      {status === "gone" && (
        <Empty icon="error" title="The picture is gone">
          Frame {request.frame} is not kept any more. Skip it.
        </Empty>
      )}
    </>
  );
}

/** Loads the picture of the frame and makes an editor for it. */
function useBoxEditor(host: { current: HTMLElement | null }, request: LabelRequest) {
  const session = useSession();
  const editor = useRef<BoxEditor | null>(null);
  const [status, setStatus] = useState<Status>("loading");
  // Not `useEffect`: that cleans up after the picture is off the page, where Annotorious measures a picture of no size.
  useLayoutEffect(() => {
    const image = new Image();
    image.alt = `Frame ${request.frame}`;
    image.draggable = false;
    image.onload = () => {
      host.current?.replaceChildren(image);
      editor.current = new BoxEditor(image, request.size, {
        onAdd: (id, box) => {
          session.change((one) => editing.addBox(one, id, box));
          askForName(session.model);
        },
        onChange: (id, box) => session.change((one) => editing.setBox(one, id, box)),
        onSelect: (id) => session.change((one) => editing.selectBox(one, id)),
      });
      describeSurface(editor.current.surface, request.frame);
      setStatus("ready");
    };
    image.onerror = () => setStatus("gone");
    image.src = `/api/frames/${request.frame}.jpg`;
    return () => {
      image.onload = null;
      editor.current?.destroy();
      editor.current = null;
    };
  }, [request.frame]);
  return { editor, status };
}

function describeSurface(surface: SVGSVGElement, frame: number): void {
  surface.id = "surface";
  surface.dataset.testid = "surface";
  surface.setAttribute("aria-label", `Frame ${frame}: drag to draw a box, click a box to pick it, or press D`);
  surface.setAttribute("aria-describedby", "stage-hint");
  // Whoever labels one frame after another with the keyboard does not lose the place.
  if (document.activeElement === document.body || document.activeElement === null) {
    focusSurface();
  }
}
