import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";

/** The dashboards for Grafana that gitops-system has, as far as tests read them. */

export interface Panel {
  readonly id: number;
  readonly title: string;
  readonly gridPos: Readonly<Record<"x" | "y" | "w" | "h", number>>;
  readonly targets: readonly { readonly expr: string }[];
}

export interface Dashboard {
  readonly uid: string;
  readonly title: string;
  readonly templating: { readonly list: readonly { readonly name: string; readonly definition?: string }[] };
  readonly panels: readonly Panel[];
}

const folder = join(import.meta.dirname, "..", "..", "repos", "gitops-system", "dashboards");

export const dashboards: readonly Dashboard[] = readdirSync(folder)
  .filter((name) => name.endsWith(".json"))
  .map((name) => JSON.parse(readFileSync(join(folder, name), "utf8")));

/** Every query of a dashboard by the panel's title, with values in place of its variables. */
export const queriesOf = (
  { title, panels }: Dashboard,
  values: Readonly<Record<string, string>>,
): (readonly [panel: string, promql: string])[] =>
  panels.flatMap((panel) =>
    panel.targets.map(({ expr }) => [
      `${title} > ${panel.title}`,
      expr.replaceAll(/\$(\w+)/g, (text, name: string) => values[name] ?? text),
    ]),
  );
