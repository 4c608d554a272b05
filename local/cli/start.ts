// `npm start`: brings up the hub of the local stack, or brings it to the present state of the checkout.
import { defaultDir } from "../instance/index.ts";
import { alone, main } from "./command.ts";
import { duration } from "./steps.ts";
import { bringUp, summary } from "./up.ts";

await main(async () => {
  const dir = defaultDir();
  const started = performance.now();
  const { fleet } = await alone(dir, () => bringUp(dir, "local"));
  console.log(`${summary(fleet.instance())}Started in ${duration(performance.now() - started)}.`);
  return 0;
});
