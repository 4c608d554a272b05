import { IAMClient } from "@aws-sdk/client-iam";
import { samePolicy } from "../compare.ts";
import type { Aws } from "../connection.ts";
import type { Field } from "../define/fields.ts";

export const api = (aws: Aws) => aws.client(IAMClient);

/** A policy document: IAM answers with it in the form of a URL. */
export const policyDocument = (api: string): Field => ({
  api,
  same: samePolicy,
  required: true,
  get: ({ [api]: document }) => decodeURIComponent((document as string | undefined) ?? ""),
});
