import { randomUUID } from "node:crypto";
import type { JSONWebKeySet } from "jose";
import { exceptionsOf } from "../aws/errors.ts";
import { operationsOf, stringOf, text } from "../aws/operation.ts";
import { restApi } from "../aws/rest-api.ts";
import type { ClusterRecord } from "../eks/model.ts";
import { type EksContext, eksArn } from "../eks/operation.ts";
import { associationOf, POD_IDENTITY_SERVICE } from "../eks/pod-identity.ts";
import { findTagged } from "../eks/tags.ts";
import { StsError } from "../sts/errors.ts";
import type { ServiceSession, SessionCredentials } from "../sts/service-session.ts";
import { verifyToken } from "../sts/token.ts";
import { model } from "./model.ts";

export interface EksAuthContext extends Pick<EksContext, "store" | "aws" | "account" | "region" | "partition"> {
  /** The keys of the cluster with this issuer. `fresh` skips any cache. */
  readonly keys: (issuer: string, fresh: boolean) => Promise<JSONWebKeySet | undefined>;
  /** AWS's time. */
  readonly awsTime: () => Promise<Date>;
  readonly assume: (session: ServiceSession) => Promise<SessionCredentials>;
}

/** AssumeRoleForPodIdentity, API reference: errors with their HTTP status. */
const exception = exceptionsOf({
  AccessDeniedException: 400,
  ExpiredTokenException: 400,
  InvalidParameterException: 400,
  InvalidRequestException: 400,
  InvalidTokenException: 400,
  ResourceNotFoundException: 404,
  ServiceUnavailableException: 503,
});
const invalidToken = exception("InvalidTokenException");

/** Not documented. The agent keeps credentials for three hours, and gives out none that are about to expire. */
const SESSION_SECONDS = 6 * 3600;

/** What a token says of the pod that it was made for. */
interface Subject {
  readonly namespace: string;
  readonly serviceAccount: string;
  readonly pod: { readonly name: string; readonly uid: string };
}

const { operation } = operationsOf<EksAuthContext, "AssumeRoleForPodIdentity">({ mostResults: 100 });

const assumeRoleForPodIdentity = operation(
  "AssumeRoleForPodIdentity",
  { clusterName: text, token: text },
  (context, { clusterName }) => ({ resource: eksArn(context, `cluster/${stringOf(clusterName)}`) }),
  async (context, { clusterName, token }) => {
    const record = context.store.find(clusterName);
    if (record === undefined)
      throw exception("ResourceNotFoundException")(`No cluster found for name: ${clusterName}.`);
    const subject = await subjectOf(context, record, token);
    const { namespace, serviceAccount } = subject;
    const association = associationOf(record, subject)?.association;
    if (association === undefined)
      throw exception("ResourceNotFoundException")(
        `No pod identity association found for service account ${namespace}/${serviceAccount} in cluster ${clusterName}`,
      );
    const { accessKeyId, secretAccessKey, sessionToken, expiration, role } = await assumed(context, record, {
      roleArn: association.roleArn,
      sessionName: sessionName(clusterName, subject.pod.name),
      tags: association.disableSessionTags ? {} : sessionTags(record, subject),
    });
    return {
      subject: { namespace, serviceAccount },
      audience: POD_IDENTITY_SERVICE,
      podIdentityAssociation: {
        associationArn: association.associationArn,
        associationId: association.associationId,
      },
      assumedRoleUser: { arn: role.arn, assumeRoleId: role.id },
      credentials: { accessKeyId, secretAccessKey, sessionToken, expiration: Math.floor(expiration.getTime() / 1000) },
    };
  },
);

/** Answers a request of the EKS Auth API, which only the EKS Pod Identity Agent calls. */
export const eksAuthApi = restApi<EksAuthContext>({
  name: "EKS Auth",
  sdk: model,
  operations: [assumeRoleForPodIdentity],
  invalid: exception("InvalidParameterException"),
  unknown: exception("InvalidRequestException"),
  tagsOf: (context, arn) => findTagged(context, arn)?.tags,
});

/** Checks the token: of a pod of this cluster, for EKS Pod Identity. */
async function subjectOf(
  { keys, awsTime }: EksAuthContext,
  { cluster }: ClusterRecord,
  token: string,
): Promise<Subject> {
  const issuer = cluster.identity.oidc?.issuer;
  const { claims } = await verifyToken(token, {
    // No OIDC provider in IAM is needed: EKS knows its own clusters.
    provider: async (of) => {
      if (of === issuer) return { clientIds: [POD_IDENTITY_SERVICE] };
      throw new StsError("InvalidIdentityToken", `its issuer is ${of}, that of the cluster is ${issuer}`);
    },
    keys,
    now: awsTime,
  }).catch((error: unknown) => {
    throw error instanceof StsError ? tokenError(error, cluster.name) : error;
  });
  const bound = claims["kubernetes.io"] as
    | { namespace?: string; serviceaccount?: { name?: string }; pod?: { name?: string; uid?: string } }
    | undefined;
  const { namespace, serviceaccount, pod } = bound ?? {};
  if (namespace === undefined || serviceaccount?.name === undefined || pod?.name === undefined || pod.uid === undefined)
    throw invalidToken("The token is not bound to a pod: it must be one that EKS has projected into a pod");
  return { namespace, serviceAccount: serviceaccount.name, pod: { name: pod.name, uid: pod.uid } };
}

function tokenError({ code, message }: StsError, cluster: string) {
  if (code === "ExpiredTokenException") return exception("ExpiredTokenException")(message);
  if (code === "IDPCommunicationError") return exception("ServiceUnavailableException")(message);
  return invalidToken(`The token is not valid for cluster ${cluster}: ${message}`);
}

/** "Grant Pods access to AWS resources based on tags", EKS User Guide. */
const sessionTags = ({ cluster }: ClusterRecord, { namespace, serviceAccount, pod }: Subject) => ({
  "eks-cluster-arn": cluster.arn,
  "eks-cluster-name": cluster.name,
  "kubernetes-namespace": namespace,
  "kubernetes-service-account": serviceAccount,
  "kubernetes-pod-name": pod.name,
  "kubernetes-pod-uid": pod.uid,
});

/** `eks-<cluster>-<pod>-<UUID>` (AssumedRoleUser, API reference), in the 64 characters that STS allows. */
const sessionName = (cluster: string, pod: string): string => {
  const unique = randomUUID();
  return `${`eks-${cluster}-${pod}`.slice(0, 63 - unique.length)}-${unique}`;
};

async function assumed(
  { assume, aws, account }: EksAuthContext,
  { cluster }: ClusterRecord,
  session: Omit<ServiceSession, "service" | "context">,
): Promise<SessionCredentials> {
  const { roleArn } = session;
  // Also where the account has the role, but EKS has not heard of it yet.
  if ((await aws.role(roleArn.split("/").at(-1) ?? ""))?.arn !== roleArn)
    throw exception("AccessDeniedException")(`Role ${roleArn} can't be assumed: it does not exist`);
  const context = { "aws:SourceArn": cluster.arn, "aws:SourceAccount": account };
  return assume({ ...session, service: POD_IDENTITY_SERVICE, seconds: SESSION_SECONDS, context }).catch(
    (error: unknown) => {
      if (error instanceof StsError)
        throw exception("AccessDeniedException")(`${POD_IDENTITY_SERVICE} can't assume ${roleArn}: ${error.message}`);
      throw error;
    },
  );
}
