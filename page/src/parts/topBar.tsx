/** The bar at the top: where we are, how the run is, and what can be done with it. */

import { changeTheme, openRequests, type Theme, VIEWS, type View } from "../model";
import { statusOf } from "../view";
import { Button } from "./controls";
import type { IconName } from "./icons";
import { useModel, useSession } from "./session";

const TITLES: Record<View, string> = {
  label: "Label",
  classes: "Classes",
  memory: "Memory",
  accuracy: "Accuracy",
  messages: "Messages",
};

const THEMES: Record<Theme, { icon: IconName; label: string }> = {
  system: { icon: "system", label: "Theme: as the system" },
  light: { icon: "sun", label: "Theme: light" },
  dark: { icon: "moon", label: "Theme: dark" },
};

export function TopBar() {
  const model = useModel();
  const { state } = model;
  return (
    <header class="top-bar">
      <div class="brand" title={state ? `${state.run.directory} · leocod ${state.run.version}` : undefined}>
        <Logo />
        <div class="brand-text">
          <h1>leocod live</h1>
          <p data-testid="run-name">{state ? `${state.run.name} · ${state.run.detector}` : "connecting"}</p>
        </div>
      </div>
      <Tabs />
      <StatusPill />
      <RunControls />
    </header>
  );
}

function Logo() {
  return (
    <svg class="logo" width="30" height="30" viewBox="0 0 32 32" aria-hidden="true" focusable="false">
      <rect class="logo-ground" width="32" height="32" rx="8" />
      <path class="logo-line" d="M8 13V8h5M19 8h5v5M24 19v5h-5M13 24H8v-5" />
      <circle class="logo-dot" cx="16" cy="16" r="3.5" />
    </svg>
  );
}

function Tabs() {
  const session = useSession();
  const model = useModel();
  const show = (view: View) => session.change((one) => ({ ...one, view }));
  const move = (event: KeyboardEvent) => {
    const step = event.key === "ArrowRight" ? 1 : event.key === "ArrowLeft" ? -1 : 0;
    if (step === 0) return;
    const next = VIEWS[(VIEWS.indexOf(model.view) + step + VIEWS.length) % VIEWS.length] ?? "label";
    show(next);
    document.getElementById(`tab-${next}`)?.focus();
    event.preventDefault();
  };
  return (
    <div class="tabs" role="tablist" aria-label="Views" onKeyDown={move}>
      {VIEWS.map((view) => (
        <button
          type="button"
          role="tab"
          key={view}
          id={`tab-${view}`}
          data-testid={`tab-${view}`}
          aria-selected={view === model.view}
          aria-controls="view"
          tabIndex={view === model.view ? 0 : -1}
          onClick={() => show(view)}
        >
          {TITLES[view]}
          <Badge view={view} />
        </button>
      ))}
    </div>
  );
}

function Badge({ view }: { view: View }) {
  const model = useModel();
  if (view === "label") {
    const count = openRequests(model).length;
    return count > 0 ? (
      <span class="badge" data-testid="queue-count">
        {count}
        <span class="unseen"> waiting</span>
      </span>
    ) : null;
  }
  if (view !== "messages") return null;
  const news = (model.state?.messages ?? []).filter(({ time, level }) => level !== "info" && time > model.readUntil);
  return news.length > 0 ? (
    <span class="badge bad">
      {news.length}
      <span class="unseen"> new</span>
    </span>
  ) : null;
}

function StatusPill() {
  const { tone, text, detail } = statusOf(useModel());
  return (
    <div class={`status ${tone}`} data-testid="status" role="status">
      <span class="status-dot" aria-hidden="true" />
      <span class="status-text">{text}</span>
      {detail && <span class="status-detail">{detail}</span>}
    </div>
  );
}

function RunControls() {
  const session = useSession();
  const model = useModel();
  const isPaused = model.state?.status === "paused";
  const isOver = !model.state || model.state.status === "ended";
  return (
    <div class="run-controls" role="toolbar" aria-label="Run">
      <Button
        id={isPaused ? "resume" : "pause"}
        icon={isPaused ? "resume" : "pause"}
        label={isPaused ? "Resume" : "Pause"}
        kind={isPaused ? "primary" : "plain"}
        shrinks
        keys="P"
        disabled={isOver}
        onClick={() => session.pauseOrResume()}
      />
      <Button
        id="checkpoint"
        icon="checkpoint"
        label="Checkpoint"
        shrinks
        keys="W"
        disabled={isOver}
        onClick={() => session.send({ type: "checkpoint" })}
      />
      <Button
        id="export"
        icon="export"
        label="Export"
        shrinks
        keys="X"
        disabled={!model.state}
        onClick={() => session.change((one) => ({ ...one, dialog: { kind: "export" } }))}
      />
      <PageControls />
    </div>
  );
}

function PageControls() {
  const session = useSession();
  const theme = THEMES[useModel().theme];
  return (
    <>
      <span class="divider" aria-hidden="true" />
      <Button
        id="theme"
        icon={theme.icon}
        label={theme.label}
        iconOnly
        kind="quiet"
        keys="T"
        onClick={() => session.change(changeTheme)}
      />
      <Button
        id="help"
        icon="help"
        label="Keys and help"
        iconOnly
        kind="quiet"
        keys="?"
        onClick={() => session.change((one) => ({ ...one, dialog: { kind: "help" } }))}
      />
    </>
  );
}
