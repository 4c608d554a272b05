/** The policy pack: `pulumi preview --policy-pack policies`. */
import { PolicyPack } from "@pulumi/policy";
import { policies } from "./all.ts";

new PolicyPack("eks-gitops-fleet", { policies, enforcementLevel: "mandatory" });
