// `npm start`: brings up the hub of the local stack and a spoke on it, or brings them to the present state of the checkout.
// `-- --hub-only` leaves the spoke out.
import { defaultDir } from "../instance/index.ts";
import { alone, main } from "./command.ts";
import { duration } from "./steps.ts";
import { summary } from "./summary.ts";
import { bringUp } from "./up.ts";

await main(async () => {
  const args = process.argv.slice(2);
  const unknown = args.filter((argument) => argument !== "--hub-only");
  if (unknown.length > 0)
    throw new Error(`unknown argument ${unknown.join(" ")}: allowed is --hub-only (the hub without a spoke)`);
  const hubOnly = args.includes("--hub-only");
  const dir = defaultDir();
  const started = performance.now();
  const { fleet } = await alone(dir, "npm start", () => bringUp(dir, "local", { hubOnly }));
  console.log(`${summary(fleet.instance(), { hubOnly })}Started in ${duration(performance.now() - started)}.`);
  return 0;
});
