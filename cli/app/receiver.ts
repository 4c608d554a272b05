import { join } from "node:path";
import { receiverEvents } from "../../lib/receivers.ts";
import { below, type Files, instantiate, withListed } from "../folder.ts";
import type { AppRequest } from "./rules.ts";

const template = join("templates", "app-receiver");
/** The component in the application's folder. */
const component = "receiver";

/**
 * The files of an application with what has a push to its repository count at once, if the request asks for that.
 * @param token the SealedSecret of the Receiver's token
 */
export async function withReceiver(
  files: Files,
  checkout: string,
  { app, gitReceiver: type }: AppRequest,
  token: () => Promise<string>,
): Promise<Files> {
  if (type === undefined) return files;
  const events = JSON.stringify(receiverEvents[type]);
  const receiver = { ...(await instantiate(checkout, template, { app, type, events })), "token.yaml": await token() };
  return {
    ...files,
    ...below(component, receiver),
    "kustomization.yaml": withListed(files["kustomization.yaml"] ?? "", "components", component),
  };
}
