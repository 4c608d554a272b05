import * as pulumi from "@pulumi/pulumi";
import type { GitAuthentication } from "../components/git-credentials.ts";
import type { Registries } from "../components/helm-addon.ts";
import type { RegistryCredentials } from "../lib/registries.ts";
import type { Settings } from "./settings.ts";

/** How Flux authenticates to the Git hosts. */
export function gitAuthentication(settings: Settings): GitAuthentication {
  switch (settings.gitAuthentication) {
    case "deploy-key":
      return { method: "deploy-key", knownHosts: settings.gitKnownHosts };
    case "token":
      return {
        method: "token",
        username: settings.gitUsername,
        token: pulumi.secret(settings.gitToken),
        caCertificate: settings.gitCaCertificate,
      };
    case "github-app":
      return {
        method: "github-app",
        appId: settings.githubAppId,
        installationId: settings.githubAppInstallationId,
        privateKey: pulumi.secret(settings.githubAppPrivateKey),
        baseUrl: settings.githubAppBaseUrl,
        caCertificate: settings.gitCaCertificate,
      };
  }
}

/** Mirrors of the hub's charts and images. */
export function registries(settings: Settings): Registries {
  const { chartsUsername: username, chartsPassword, pullSecret } = settings;
  return {
    charts: settings.chartsRegistry,
    chartsCredential: username ? { username, password: pulumi.secret(chartsPassword) } : undefined,
    images: settings.imagesRegistry,
    pullSecret: pullSecret ? pulumi.secret(pullSecret) : undefined,
  };
}

/** The credentials of mirrors, for Git. */
export function registryCredentials(settings: Settings): pulumi.Output<RegistryCredentials> {
  const { pullSecret, chartsUsername, chartsPassword } = settings;
  return pulumi.secret({ pullSecret, chartsUsername, chartsPassword });
}
