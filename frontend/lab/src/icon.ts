import { LabIcon } from "@jupyterlab/ui-components";

const STONE = `<svg xmlns="http://www.w3.org/2000/svg" width="16" viewBox="0 0 32 32">
  <path class="jp-icon3 jp-icon-selectable" fill="#616161" d="M16 2 28 13 22.500 30H9.500L4 13Z"/>
  <path class="jp-icon-accent0" fill="none" stroke="#fff" stroke-width="2" d="M4 13 16 17.500 28 13M16 17.500V30"/>
</svg>`;

export const icon = new LabIcon({ name: "icedive:iceberg", svgstr: STONE });
