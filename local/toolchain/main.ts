import { chartVersions, ensureToolchain } from "./index.ts";

const toolchain = await ensureToolchain();
const lines = [
  `Programs  ${toolchain.programs.join(" ")}`,
  ...toolchain.images().map(({ reference, tar }) => `Image     ${reference}  ${tar}`),
  ...Object.entries(chartVersions).map(([name, version]) => `Chart     ${name} ${version}`),
  `Charts    ${toolchain.charts}`,
  `Python    ${toolchain.python}`,
];
process.stdout.write(`${lines.join("\n")}\n`);
