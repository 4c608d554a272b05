import { rejectsLines } from "../support/wrong-lines.ts";

rejectsLines("fleet rotate-deploy-key", {
  "Blue --new --registered --known-hosts {nowhere} --repository {system}": [
    "--known-hosts: names a file that does not exist | {nowhere} | a file that you may read | correct the path",
    "--new, --registered: can't be done together | --new --registered | one step at a time: between two of them something happens at the Git host | leave out the later ones",
    "<spoke>: can't be the name of a spoke: it is part of names in AWS and in Kubernetes | Blue | at most 40 lower-case letters, digits and hyphens, beginning with a letter, not hub and not beginning with cluster- | choose another name",
  ],
  "taken --new --fleet fleet --certificate {certificate} --repository {system}": [
    "<spoke>: has no sealed credential for gitops-system in this checkout | no file spokes/fleet/taken/secrets/gitops-system.yaml | the SealedSecret that fleet new-cluster or fleet onboard wrote | pull the checkout, or make the credential first: fleet reseal for a spoke, fleet onboard for an application",
    "<spoke>: has no sealed credential for gitops-workloads in this checkout | no file spokes/fleet/taken/secrets/gitops-workloads.yaml | the SealedSecret that fleet new-cluster or fleet onboard wrote | pull the checkout, or make the credential first: fleet reseal for a spoke, fleet onboard for an application",
  ],
  "taken --new --fleet fleet --certificate {file} --repository {system}":
    "--certificate: the file is not a certificate in PEM; the public certificate of the scope's sealing key is needed: pulumi stack output --json sealingCertificates | (not shown) | a valid RSA certificate in PEM | give the certificate of the scope's active sealing key",
  "taken/shop --new --repository {workloads}":
    "<spoke>: is not an application on a cluster in this checkout | taken/shop | (none) | correct it, or pull the checkout if the application is new",
  "taken/shop --new --repository {system} --system {folder}": [
    "--repository: is not a checkout of gitops-workloads: it has no folder templates/app | {system} | a clone of gitops-workloads; default: the current folder | run this in a clone of gitops-workloads, or name one with --repository DIR",
    "--system: is not a checkout of gitops-system | {folder} | a clone of gitops-system; default: the current folder, or gitops-system in it or beside it | name one with --system DIR",
  ],
  "hub --repository {system}":
    "--stack: is missing: Pulumi makes the fleet's keys | (nothing) | the Pulumi stack of the hub | give --stack",
  "hub --new --stack dev --repository {system}":
    "--new: is for the keys of a spoke or an application: those of the hub are not in Git | --new | --stack, --repository | leave --new out",
});
