/** Stand-in for pulumi-resource-aws: the AWS handlers of local/aws behind Pulumi's provider protocol. */
import path from "node:path";
import { functions, handlers } from "../../aws/index.ts";
import { openSdk, type PropertyMap, type ResourceDefinition, revealMap, serveProvider } from "../framework/index.ts";
import { acceptedConfig, awsOf, type Config, checkAccount, configFailures, type Session } from "./config.ts";
import { definitionOf } from "./definition.ts";
import { journalIn } from "./journal.ts";

const sdk = openSdk("aws");
const home = process.env["PULUMI_HOME"] ?? path.join(process.env["HOME"] ?? ".", ".pulumi");
const journal = journalIn(path.join(home, "stand-in-aws"));

function resource(token: string): ResourceDefinition<Session> | undefined {
  const handler = handlers.get(token);
  const shape = handler && sdk.resource(token);
  return handler && shape && definitionOf(handler, shape, journal);
}

await serveProvider<Session>({
  sdk,
  accepts: acceptedConfig,
  checkConfig: (config) => configFailures(revealMap(config) as Config, process.env),
  async configure(values) {
    const config = values as Config;
    const aws = awsOf(config, process.env);
    await checkAccount(config, aws);
    return { aws, defaultTags: config.defaultTags?.tags ?? {} };
  },
  resource,
  resources: [...handlers.keys()].sort(),
  functions: Object.fromEntries(
    Object.entries(functions).map(([token, { arguments: names, required = [], call }]) => [
      token,
      {
        arguments: names,
        required,
        call: async ({ session, args }) => (await call(session.aws, args)) as PropertyMap,
      },
    ]),
  ),
});
