/** Requests to create an object, and what an admission policy says of them. */

export interface AdmissionCase {
  readonly policy: string;
  /** What a reader calls the request. */
  readonly title: string;
  readonly object: Requested;
  /** A part of the message; absent when the object is let through. */
  readonly refused?: string;
}

export interface Requested {
  readonly apiVersion: string;
  readonly kind: string;
  readonly metadata: { readonly name: string; readonly namespace?: string; readonly labels?: Record<string, string> };
  readonly [member: string]: unknown;
}

/** A namespace of an application, with the label that makes it one. */
export const tenantNamespace = "payment-app";

/** Cases of one policy. */
export type Cases = readonly Omit<AdmissionCase, "policy">[];
