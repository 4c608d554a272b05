import { setNoSpace } from "@eks-gitops-fleet/local/clusters";
import { currentInstance } from "@eks-gitops-fleet/local/instance";

/** A program of its own, which ends the fault also when the tests are interrupted. */
await setNoSpace(await currentInstance(), false);
