// Icons of 16 pixels, drawn with the colour of the text.

const PATHS = {
  tables: "M2 4c0-1.3 2.7-2.3 6-2.3s6 1 6 2.3-2.7 2.3-6 2.3S2 5.3 2 4Zm0 0v8c0 1.3 2.7 2.3 6 2.3s6-1 6-2.3V4M2 8c0 1.3 2.7 2.3 6 2.3S14 9.3 14 8",
  graph: "M2 6.5h4v3H2zM10 2h4v3h-4zM10 11h4v3h-4zM6 8c3 0 1-4.5 4-4.5M6 8c3 0 1 4.5 4 4.5",
  plan: "M1.5 2.5h13L10 8.5v5l-4-1.8V8.5Z",
  compare: "M5.5 3H2v10h3.5M10.5 3H14v10h-3.5M8 1v14M4.5 8h-1M12.5 6.5v3M11 8h3",
  deletes: "M3 4h10M6 4V2.3h4V4M4.2 4l.7 10h6.2l.7-10M6.7 6.5v5M9.3 6.5v5",
  findings: "M8 1.8 15 14H1ZM8 6v4M8 11.8v.6",
  health: "M1.5 8.5h3l1.7-5 3 9 1.8-4h3.5",
  ask: "M5.5 5.5a2.5 2.5 0 1 1 3.6 2.2C8.3 8.100 8 8.600 8 9.500M8 12v.6M14.500 8a6.500 6.500 0 1 1-13 0 6.500 6.500 0 0 1 13 0Z",
  rows: "M2 3h12v10H2zM2 6.300h12M2 9.700h12M6.500 6.300V13",
  lab: "M6 1.500h4M6.800 1.500v5L2.800 13c-.4.8 0 1.500.9 1.500h8.600c.9 0 1.300-.7.9-1.500l-4-6.500v-5M4.500 10.500h7",
  first: "M4 3v10M13 3 6.500 8 13 13Z", back: "M11 3 4.500 8 11 13Z", next: "M5 3l6.500 5L5 13Z", last: "M12 3v10M3 3l6.500 5L3 13Z",
  search: "M11.500 7a4.500 4.500 0 1 1-9 0 4.500 4.500 0 0 1 9 0ZM10.300 10.300 14 14",
  key: "M9.500 10a3.500 3.500 0 1 0-3-1.700L2 12.800V14h2.500v-1.500H6V11l1.500-1.500M10.500 6v.1",
  close: "M4 4l8 8M12 4l-8 8", down: "M3.500 6 8 10.500 12.500 6", up: "M3.500 10 8 5.500 12.500 10", right: "M6 3.500 10.500 8 6 12.500",
  moon: "M13.500 9.500A6 6 0 1 1 6.500 2.500a5 5 0 0 0 7 7Z", copy: "M5.500 5.500V2.500h8v8h-3M2.500 5.500h8v8h-8z",
  fit: "M2 6V2h4M10 2h4v4M14 10v4h-4M6 14H2v-4", inspector: "M2 3h12v10H2zM9.500 3v10", help: "M5.800 6a2.200 2.200 0 1 1 3.200 2c-.7.400-1 .8-1 1.600M8 12v.5",
} as const;
export type IconName = keyof typeof PATHS;

export function Icon({ name }: { name: IconName }) {
  return (
    <svg class="icon" viewBox="0 0 16 16" width="16" height="16" aria-hidden="true">
      <path d={PATHS[name]} fill="none" stroke="currentColor" stroke-width="1.4" stroke-linecap="round" stroke-linejoin="round" />
    </svg>
  );
}
