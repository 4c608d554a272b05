// A reporter of vitest: how long each test file took, hooks included, the longest first. CI's time is a budget.
import type { Reporter, TestModule } from "vitest/node";

/** A file that ran: its project, its path in the checkout, and milliseconds from its import to the end of its last hook. */
export interface FileTime {
  readonly project: string;
  readonly file: string;
  readonly ms: number;
}

/** Files that took less are summed up, in milliseconds. */
const SHORT_MS = 5000;

const seconds = (ms: number) => `${(ms / 1000).toFixed(1).padStart(8)} s`;

/** The table: one line for each file that took long, one for the others of its project. */
export function timeLines(files: readonly FileTime[]): string[] {
  const lines = [...new Set(files.map(({ project }) => project))].flatMap((project) => {
    const own = files.filter((file) => file.project === project).sort((one, other) => other.ms - one.ms);
    const short = own.filter(({ ms }) => ms < SHORT_MS);
    const sum = short.reduce((total, { ms }) => total + ms, 0);
    return [
      ...own.filter(({ ms }) => ms >= SHORT_MS).map(({ file, ms }) => `${seconds(ms)}  ${project}  ${file}`),
      ...(short.length > 0 ? [`${seconds(sum)}  ${project}  ${short.length} files below ${SHORT_MS / 1000} s`] : []),
    ];
  });
  return lines.length > 0 ? ["Time by test file:", ...lines] : [];
}

function timeOf(module: TestModule): FileTime {
  const { collectDuration, setupDuration, prepareDuration, environmentSetupDuration, duration } = module.diagnostic();
  return {
    project: module.project.name,
    file: module.relativeModuleId,
    ms: collectDuration + setupDuration + prepareDuration + environmentSetupDuration + duration,
  };
}

export default class FileTimes implements Reporter {
  onTestRunEnd(modules: readonly TestModule[]): void {
    for (const line of timeLines(modules.map(timeOf))) console.log(line);
  }
}
