/** Requests to create or to change an object, and what an admission policy says of them. */

export interface AdmissionCase {
  readonly policy: string;
  /** What a reader calls the request. */
  readonly title: string;
  /** The object as it is to be. */
  readonly object: Requested;
  /** What it is before the request changes it; absent when the request makes it. */
  readonly from?: Requested;
  /** Whether the object is being removed when it is changed. */
  readonly leaving?: boolean;
  /** User who asks; default: the administrator. */
  readonly by?: string;
  /** A part of the message; absent when the object is let through. */
  readonly refused?: string;
  /** Another policy that refuses it with the same part: an API server tells one of them, now this and now that. */
  readonly also?: string;
}

export interface Requested {
  readonly apiVersion: string;
  readonly kind: string;
  readonly metadata: {
    readonly name: string;
    readonly namespace?: string;
    readonly labels?: Record<string, string>;
    readonly annotations?: Record<string, string>;
    readonly finalizers?: readonly string[];
  };
  readonly [member: string]: unknown;
}

/** A namespace of an application, with the label that makes it one. */
export const tenantNamespace = "payment-app";

/** Namespaces of applications with what their annotation says of the kinds that they may order in AWS. */
export const annotatedNamespaces: Readonly<Record<string, string>> = {
  ledger: "dynamodb.Table",
  website: "",
  archive: "s3.Bucket",
  orders: "rds.Instance",
  "eu--orders": "rds.Instance",
  "eu--archive": "dynamodb.Table s3.Bucket",
};

/** Keeps an object that is removed, as a controller does that has to remove something else first. */
const finalizer = "fleet.internal/test";

/** The object, kept when it is removed. */
export const kept = (object: Requested): Requested => ({
  ...object,
  metadata: { ...object.metadata, finalizers: [finalizer] },
});

/** Cases of one policy. */
export type Cases = readonly Omit<AdmissionCase, "policy">[];
type More = Partial<Pick<AdmissionCase, "from" | "leaving" | "by" | "also">>;

/** A request that is let through. */
export const allows =
  (title: string, more: More = {}) =>
  (object: Requested): Cases[number] => ({ ...more, title, object });

/** A request that is refused, with a part of the message. */
export const refuses =
  (title: string, refused: string, more: More = {}) =>
  (object: Requested): Cases[number] => ({ ...more, title, object, refused });

/** An object that is being removed: its finalizer may go, and it can't become what would not be let in. */
export const removals = (before: Requested, after: Requested, refused: string): Cases => [
  allows(`the end of a ${before.kind} that is being removed`, { from: kept(before), leaving: true })({
    ...before,
    metadata: { ...before.metadata, finalizers: [] },
  }),
  refuses(`a ${before.kind} that becomes something else while it is being removed`, refused, {
    from: kept(before),
    leaving: true,
  })(kept(after)),
];
