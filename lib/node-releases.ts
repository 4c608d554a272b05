import { compare } from "./version.ts";

/** Forms of the releases of the EKS optimized AMIs, by the beginning of AMI types. */
const forms = {
  /** The Kubernetes version of its kubelet and a date. */
  AL2023: { form: /^1\.\d{2}\.\d+-\d{8}$/, example: "1.35.2-20261101" },
  /** Its own version and the beginning of a commit (parameter `image_version`). */
  BOTTLEROCKET: { form: /^\d+\.\d+\.\d+-[0-9a-f]{8}$/, example: "1.54.0-5d9ac849" },
} as const;

const familyOf = (amiType: string) => (amiType.startsWith("BOTTLEROCKET") ? "BOTTLEROCKET" : "AL2023");

/** What a release of an AMI type looks like. */
export const releaseForm = (amiType: string): { readonly form: RegExp; readonly example: string } =>
  forms[familyOf(amiType)];

/** The day of a release of Amazon Linux: within a Kubernetes minor EKS's releases are ordered by it. */
const day = (release: string): number => Number(release.split("-").at(-1));

/** Compares two releases of an AMI type for one Kubernetes minor: negative, zero or positive. */
export const compareReleases = (amiType: string, a: string, b: string): number =>
  familyOf(amiType) === "BOTTLEROCKET" ? compare(a, b) : day(a) - day(b);
