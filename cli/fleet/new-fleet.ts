import { resolve } from "node:path";
import { readLine } from "../line.ts";
import { newFleet } from "./folders.ts";

export const summary = "write the folders of a fleet in gitops-system: what its hub applies, and its spokes";

export const help = `Usage: fleet new-fleet <fleet> [--repository DIR]

Makes clusters/<fleet> and spokes/<fleet> in a checkout of gitops-system. Run it once, before Flux on the hub looks for them.
<fleet> is the fleet of the hub's stack. What exists stays as it is.

  --repository DIR       the checkout to write into; default: the current folder

Example:
  fleet new-fleet pilot --repository ../gitops-system
`;

export const options = { repository: { type: "string" }, help: { type: "boolean", short: "h" } } as const;

export async function run(argv: readonly string[]): Promise<number> {
  const { values, args, problems } = readLine("new-fleet", argv, options, { arguments: ["fleet"] });
  const { fleet } = args;
  const checkout = resolve(values.repository ?? ".");
  const made = await newFleet(checkout, fleet, problems);
  if (made.length === 0) console.log(`${fleet} has its folders in ${checkout}: nothing to do.`);
  else
    console.log(`Made ${made.join(" and ")}. Next, in ${checkout}:
  git add ${made.join(" ")} && git commit -m "Add fleet ${fleet}" && git push`);
  return 0;
}
