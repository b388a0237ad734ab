/** Buttons, keys and swatches: the small parts that every view uses. */

import type { ComponentChildren } from "preact";
import { colourOf } from "../colours";
import { Icon, type IconName } from "./icons";
import { useModel } from "./session";

type ButtonProps = {
  id: string;
  label: string;
  icon?: IconName;
  /** The key that does the same. */
  keys?: string;
  kind?: "primary" | "plain" | "quiet" | "danger";
  /** Only the icon is seen; the label is still read out. */
  iconOnly?: boolean;
  /** The label gives way to the icon where there is little room. */
  shrinks?: boolean;
  pressed?: boolean;
  disabled?: boolean;
  title?: string;
  /** What the button is about, for those who hear it without seeing where it stands. */
  about?: string;
  onClick(): void;
};

export function Button(props: ButtonProps) {
  const { id, label, icon, keys, kind = "plain", iconOnly = false, shrinks = false, pressed, disabled } = props;
  const hint = props.title ?? (iconOnly || shrinks ? label : undefined);
  return (
    <button
      type="button"
      class={`button ${kind}${iconOnly ? " icon-only" : ""}${shrinks ? " shrinks" : ""}`}
      data-testid={id}
      aria-label={props.about === undefined ? (iconOnly ? label : undefined) : `${label} ${props.about}`}
      aria-keyshortcuts={keys}
      aria-pressed={pressed}
      title={hint && keys ? `${hint} (${keys})` : hint}
      disabled={disabled}
      onClick={props.onClick}
    >
      {icon && <Icon name={icon} />}
      {!iconOnly && <span class="button-text">{label}</span>}
      {keys && !iconOnly && <Key text={keys} />}
    </button>
  );
}

export function Key({ text }: { text: string }) {
  return <kbd aria-hidden="true">{text}</kbd>;
}

export function Swatch({ name }: { name: string }) {
  const { colours } = useModel();
  return <span class="swatch" aria-hidden="true" style={{ backgroundColor: colourOf(name, colours) }} />;
}

export function Name({ name }: { name: string }) {
  return (
    <span class="name">
      <Swatch name={name} />
      <span class="name-text" dir="auto">
        {name}
      </span>
    </span>
  );
}

/** Average precision as a bar from 0 to 100. */
export function ApBar({ name, ap }: { name: string; ap: number | null }) {
  if (ap === null) return <span class="muted">not measured</span>;
  return (
    <span
      class="meter"
      role="meter"
      aria-label={`AP50 of ${name}`}
      aria-valuemin={0}
      aria-valuemax={100}
      aria-valuenow={Math.round(ap * 10) / 10}
    >
      <span style={{ width: `${Math.min(100, Math.max(0, ap))}%` }} />
    </span>
  );
}

export function Empty({ icon, title, children }: { icon: IconName; title: string; children: ComponentChildren }) {
  return (
    <div class="empty">
      <span class="empty-icon">
        <Icon name={icon} size={26} />
      </span>
      <strong>{title}</strong>
      <p>{children}</p>
    </div>
  );
}
