// `account <ID>`: makes an AWS account besides the hub's in the instance, with an administrator, and says how to act as it.
import { ensureAccount } from "../gateway/deployer.ts";
import { currentInstance } from "../instance/index.ts";
import { main } from "./command.ts";

await main(async () => {
  const [id, ...more] = process.argv.slice(2);
  if (id === undefined || more.length > 0)
    throw new Error(
      `account: got ${id === undefined ? "no ID" : `${more.length + 1} arguments`}, wanted one ID of 12 digits: account 222222222222`,
    );
  const file = await ensureAccount(await currentInstance(), id);
  console.log(`Account ${id} is there. To act as its administrator:\n\n  export AWS_SHARED_CREDENTIALS_FILE='${file}'`);
  return 0;
});
