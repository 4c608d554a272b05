import type { AppRequest } from "../../../cli/app/rules.ts";

/** What `fleet onboard` is asked for. */
export const request: AppRequest = {
  app: "payment-app",
  cluster: "blue",
  environment: "dev",
  tenant: "payments",
  repositoryUrl: "ssh://git@git.fleet.internal:2222/payment-app-manifests.git",
  revision: "main",
  path: "./overlays/dev",
};
