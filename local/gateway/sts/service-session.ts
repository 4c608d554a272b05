import { AssumeRoleCommand, STS, STSServiceException } from "@aws-sdk/client-sts";
import { accountOfArn } from "../aws/account-of-key.ts";
import { ASSERTION_HEADER } from "../aws/forward.ts";
import { byAccount } from "../by-account.ts";
import { type GatewayKey, rootCredentials } from "../key.ts";
import { StsError } from "./errors.ts";

/** A role that an AWS service assumes, as its trust policy must allow for exactly this. */
export interface ServiceSession {
  /** The principal: `ec2.amazonaws.com`, `pods.eks.amazonaws.com`. */
  readonly service: string;
  readonly roleArn: string;
  readonly sessionName: string;
  /** Session tags, all of them transitive. */
  readonly tags?: Readonly<Record<string, string>>;
  /** How long it lasts. @default an hour */
  readonly seconds?: number;
  /** Condition keys that the service gives: aws:SourceArn, aws:SourceAccount. */
  readonly context?: Readonly<Record<string, string>>;
}

/** Credentials of a session, and whose it is. */
export interface SessionCredentials {
  readonly accessKeyId: string;
  readonly secretAccessKey: string;
  readonly sessionToken: string;
  readonly expiration: Date;
  readonly role: { readonly arn: string; readonly id: string };
}

/** Gives a function that assumes roles as AWS's own services do, in the account of each role. It rejects with StsError (AccessDenied) where the role does not trust the service. */
export function serviceSessions({ endpoint, region, key }: { endpoint: string; region: string; key: GatewayKey }) {
  const clientOf = byAccount((account) => new STS({ endpoint, region, credentials: rootCredentials(key, account) }));
  return async ({ service, roleArn, sessionName, tags = {}, seconds, context = {} }: ServiceSession) => {
    const command = new AssumeRoleCommand({
      RoleArn: roleArn,
      RoleSessionName: sessionName,
      DurationSeconds: seconds,
      TransitiveTagKeys: Object.keys(tags),
      Tags: Object.entries(tags).map(([Key, Value]) => ({ Key, Value })),
    });
    const assertion = await key.sign({ assumesAs: service, context });
    command.middlewareStack.add(
      (next) => (args) => {
        (args.request as { headers: Record<string, string> }).headers[ASSERTION_HEADER] = assertion;
        return next(args);
      },
      { step: "build" },
    );
    const { Credentials, AssumedRoleUser } = await clientOf(accountOfArn(roleArn))
      .send(command)
      .catch((error: unknown) => {
        if (error instanceof STSServiceException)
          throw new StsError(error.name, error.message, error.$metadata.httpStatusCode);
        throw error;
      });
    return {
      accessKeyId: Credentials?.AccessKeyId ?? "",
      secretAccessKey: Credentials?.SecretAccessKey ?? "",
      sessionToken: Credentials?.SessionToken ?? "",
      expiration: Credentials?.Expiration ?? new Date(0),
      role: { arn: AssumedRoleUser?.Arn ?? "", id: AssumedRoleUser?.AssumedRoleId ?? "" },
    } satisfies SessionCredentials;
  };
}
