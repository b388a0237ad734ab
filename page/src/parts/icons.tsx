/** Icons: lines on a grid of 24 x 24, drawn for this page. They are decoration; the words beside them are what counts. */

const PATHS = {
  accept: "M4.5 12.5l5 5 10-11",
  nothing: "M12 3.5a8.5 8.5 0 100 17 8.5 8.5 0 000-17zM6 18L18 6",
  skip: "M5 5.5l7 6.5-7 6.5zM14 5.5l7 6.5-7 6.5z",
  undo: "M8 5L4 9l4 4M4 9h10a5.5 5.5 0 010 11h-3",
  draw: "M4 8V4h4M16 4h4v4M20 16v4h-4M8 20H4v-4M12 8.5v7M8.5 12h7",
  remove: "M6 6l12 12M18 6L6 18",
  pause: "M8.5 5v14M15.5 5v14",
  resume: "M7 4.5l12 7.5-12 7.5z",
  checkpoint: "M5 4h11l3 3v13H5zM8.5 4v5h6V4M8 20v-6h8v6",
  export: "M12 4v11M7.5 10.5L12 15l4.5-4.5M4.5 19.5h15",
  help: "M12 3.5a8.5 8.5 0 100 17 8.5 8.5 0 000-17zM9.6 9.6a2.5 2.5 0 114 2c-1 .7-1.6 1.2-1.6 2.2M12 16.7v.1",
  sun: "M12 8a4 4 0 100 8 4 4 0 000-8zM12 2.5v2M12 19.5v2M2.5 12h2M19.5 12h2M5.3 5.3l1.4 1.4M17.3 17.3l1.4 1.4M5.3 18.7l1.4-1.4M17.3 6.7l1.4-1.4",
  moon: "M20 14.5A8.5 8.5 0 019.5 4a8.5 8.5 0 1010.5 10.5z",
  system: "M3.5 5h17v11h-17zM9 20h6M12 16v4",
  pin: "M9 4h6l-.8 6 3.3 3.5h-11L9.8 10zM12 13.5V20",
  bin: "M4.5 6.5h15M9.5 6.5V4h5v2.5M6.5 6.5l.8 13.5h9.4l.8-13.5M10 10.5v6M14 10.5v6",
  rename: "M4 20l1-4.5L16 4.5l3.5 3.5-11 11zM13.5 7l3.5 3.5",
  merge: "M5 4.5c0 6 7 4.5 7 10.5M19 4.5c0 6-7 4.5-7 10.5M12 15v5M9 17.5l3 3 3-3",
  left: "M14.5 5.5L8 12l6.5 6.5",
  right: "M9.5 5.5L16 12l-6.5 6.5",
  plus: "M12 5v14M5 12h14",
  minus: "M5 12h14",
  warning: "M12 4L2.8 20h18.4zM12 10v4.5M12 17.2v.1",
  info: "M12 3.5a8.5 8.5 0 100 17 8.5 8.5 0 000-17zM12 11v5.5M12 7.7v.1",
  error: "M12 3.5a8.5 8.5 0 100 17 8.5 8.5 0 000-17zM12 7.5v5.5M12 16.2v.1",
  done: "M12 3.5a8.5 8.5 0 100 17 8.5 8.5 0 000-17zM8 12.3l2.8 2.8 5.2-5.7",
  clock: "M12 3.5a8.5 8.5 0 100 17 8.5 8.5 0 000-17zM12 7.5V12l3 2",
  download: "M12 4v11M7.5 10.5L12 15l4.5-4.5M4.5 19.5h15",
} as const;

export type IconName = keyof typeof PATHS;

export function Icon({ name, size = 18 }: { name: IconName; size?: number }) {
  return (
    <svg class="icon" width={size} height={size} viewBox="0 0 24 24" aria-hidden="true" focusable="false">
      <path d={PATHS[name]} />
    </svg>
  );
}
