/** The live picture with the slow learner's boxes. */

import { useLayoutEffect, useRef, useState } from "preact/hooks";
import type { PictureHeader } from "../contract";
import type { Picture } from "../protocol";
import type { Session } from "../session";
import { agoText, scoreText, spanText } from "../words";
import { fitPicture } from "./livePicture";
import { useModel, useNow, useSession } from "./session";

/** Words below the picture change at most so often, in milliseconds: nobody reads faster. */
const READING_TIME = 500;

export function LiveCard({ isLarge = false }: { isLarge?: boolean }) {
  const [header, setHeader] = useState<PictureHeader | null>(null);
  const { state, connection } = useModel();
  const isStale = connection.kind !== "open" || (state !== null && state.source.status !== "running");
  return (
    <section class={`card live${isLarge ? " large" : ""}${isStale ? " stale" : ""}`} aria-labelledby="live-title">
      <header class="card-header">
        <h2 id="live-title">
          <span class={`live-dot${isStale || !header ? "" : " on"}`} aria-hidden="true" />
          Live
        </h2>
        <LiveTimes header={header} isStale={isStale} />
      </header>
      <LiveCanvas onHeader={setHeader} />
      <p class="live-objects" data-testid="live-objects">
        {header ? describeObjects(header) : "No picture yet"}
      </p>
    </section>
  );
}

function LiveTimes({ header, isStale }: { header: PictureHeader | null; isStale: boolean }) {
  const now = useNow();
  const { state } = useModel();
  if (!header) return null;
  if (isStale) return <span class="muted">last picture: {agoText(header.captured, now)}</span>;
  return (
    <span class="muted numbers" data-testid="live-lag">
      {state ? `${state.source.fps.toFixed(1)} frames/s · ` : ""}lag {spanText(header.lag)}
    </span>
  );
}

function describeObjects({ names, scores }: PictureHeader): string {
  if (names.length === 0) return "Nothing is detected";
  return names.map((name, index) => `${name} ${scoreText(scores[index] ?? 0)}`).join(", ");
}

function LiveCanvas({ onHeader }: { onHeader(header: PictureHeader): void }) {
  const session = useSession();
  const host = useRef<HTMLDivElement>(null);
  const canvas = useRef<HTMLCanvasElement>(null);
  // Not `useEffect`: two canvases must never answer for the same picture.
  useLayoutEffect(() => {
    if (host.current && canvas.current) return showPictures(session, host.current, canvas.current, onHeader);
  }, [session]);
  return (
    <div class="live-place">
      <div class="live-host" ref={host}>
        <canvas ref={canvas} data-testid="live-picture" role="img" aria-label="Live picture with detections" />
      </div>
    </div>
  );
}

/** Draws every picture that comes, and asks for the next one. Returns what ends it. */
function showPictures(
  session: Session,
  host: HTMLElement,
  canvas: HTMLCanvasElement,
  onHeader: (header: PictureHeader) => void,
): () => void {
  let shown: { image: ImageBitmap; header: PictureHeader } | null = null;
  let lastWords = Number.NEGATIVE_INFINITY;
  let isOver = false;
  const draw = () => shown && fitPicture(canvas, host, shown.image, shown.header, session.model.colours);
  const receive = async ({ header, jpeg }: Picture, isNew = true) => {
    const image = await createImageBitmap(jpeg).catch(() => null);
    if (isOver) return image?.close();
    requestAnimationFrame(() => {
      if (image) {
        shown?.image.close();
        shown = { image, header };
        draw();
      }
      if (isNew) session.tellShown(header.picture);
      if (performance.now() - lastWords < READING_TIME) return;
      lastWords = performance.now();
      onHeader(header);
    });
  };
  if (session.lastPicture) void receive(session.lastPicture, false);
  const forget = session.onPicture((picture) => void receive(picture));
  const observer = new ResizeObserver(draw);
  observer.observe(host);
  return () => {
    isOver = true;
    forget();
    observer.disconnect();
    shown?.image.close();
  };
}
