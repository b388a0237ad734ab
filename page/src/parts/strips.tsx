/** Counters, the banner above everything, and the notices that come and go. */

import { useEffect } from "preact/hooks";
import type { Notice } from "../model";
import { dropNotice } from "../model";
import { bannerOf, countersOf } from "../view";
import { Button } from "./controls";
import { Icon, type IconName } from "./icons";
import { useModel, useNow, useSession } from "./session";

export function Counters() {
  const { state } = useModel();
  if (!state) return null;
  return (
    <section aria-label="Counters">
      <dl class="counters">
        {countersOf(state).map(({ id, label, value, detail, help }) => (
          <div class="counter" key={id} data-testid={`counter-${id}`} title={help}>
            <dt>{label}</dt>
            <dd>
              <span class="counter-value">{value}</span>
              <span class="counter-detail">{detail}</span>
            </dd>
          </div>
        ))}
      </dl>
    </section>
  );
}

export function BannerStrip() {
  const session = useSession();
  const banner = bannerOf(useModel(), useNow() * 1000);
  if (!banner) return null;
  return (
    <div class={`banner ${banner.tone}`} data-testid="banner" role={banner.tone === "bad" ? "alert" : "status"}>
      <Icon name={banner.tone === "calm" ? "info" : banner.tone === "bad" ? "error" : "warning"} />
      <p>
        <strong>{banner.title}.</strong> {banner.text}
      </p>
      {banner.action === "retry" && <Button id="retry" label="Try now" onClick={() => session.retry()} />}
    </div>
  );
}

const ICONS: Record<Notice["level"], IconName> = { done: "done", info: "info", warning: "warning", error: "error" };

/** How long a notice stays, in milliseconds. An error waits to be read. */
const STAYS: Record<Notice["level"], number> = { done: 4000, info: 6000, warning: 8000, error: 20000 };

export function Notices() {
  const { notices } = useModel();
  return (
    <section class="notices" aria-label="Acknowledgements" aria-live="polite" data-testid="notices">
      {notices.map((notice) => (
        <NoticeCard key={notice.id} notice={notice} />
      ))}
    </section>
  );
}

function NoticeCard({ notice }: { notice: Notice }) {
  const session = useSession();
  const drop = () => session.change((model) => dropNotice(model, notice.id));
  useEffect(() => {
    const timer = setTimeout(drop, STAYS[notice.level]);
    return () => clearTimeout(timer);
  }, [notice.id]);
  return (
    <div class={`notice ${notice.level}`} data-testid={`notice-${notice.level}`}>
      <Icon name={ICONS[notice.level]} />
      <p>{notice.text}</p>
      {notice.file !== undefined && (
        <a href={`/api/exports/${encodeURIComponent(notice.file)}`} download={notice.file}>
          Download
        </a>
      )}
      <Button id="notice-close" icon="remove" label="Close" iconOnly kind="quiet" onClick={drop} />
    </div>
  );
}
