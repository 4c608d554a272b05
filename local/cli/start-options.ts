import { parseArgs } from "node:util";
import { addonNames, readAddonNames } from "../toolchain/index.ts";
import { type Choices, choices } from "./choices.ts";
import type { UpOptions } from "./up.ts";

const names = Object.keys(choices) as (keyof Choices)[];
const allowed = `allowed are --hub-only (the hub without a spoke), --cloud-only (neither, and the repositories stay as they are), ${names.map((name) => `--${name} ${choices[name].join("|")}`).join(", ")}, --addons with some of ${addonNames.join(",")}`;

/** The flags of `npm start`. Throws with what is allowed. */
export function startOptions(argv: readonly string[]): UpOptions {
  const options = {
    "hub-only": { type: "boolean", default: false },
    "cloud-only": { type: "boolean", default: false },
    git: { type: "string" },
    charts: { type: "string" },
    addons: { type: "string" },
  } as const;
  let read: ReturnType<typeof parseArgs<{ options: typeof options }>>;
  try {
    read = parseArgs({ args: [...argv], options });
  } catch (error) {
    throw new Error(`${(error as Error).message}: ${allowed}`, { cause: error });
  }
  const named = names.filter((name) => read.values[name] !== undefined);
  const unknown = named.find((name) => !choices[name].some((value) => value === read.values[name]));
  if (unknown !== undefined) throw new Error(`unknown argument --${unknown} ${read.values[unknown]}: ${allowed}`);
  const wanted = Object.fromEntries(named.map((name) => [name, read.values[name]])) as Partial<Choices>;
  const addons = readAddonNames(read.values.addons?.split(",").map((name) => name.trim()) ?? []);
  return { hubOnly: read.values["hub-only"], cloudOnly: read.values["cloud-only"], choices: wanted, addons };
}
