import { rejectsLines } from "../support/wrong-lines.ts";

rejectsLines("fleet", {
  "keys --repository {nowhere} --repository {file}": [
    "--repository: names a folder that does not exist | {nowhere} | the folder of a checkout | correct the path",
    "--repository: is not a folder | {file} | the folder of a checkout | correct the path",
  ],
  "reseal Blue --deploy-keys fleet --certificate {nowhere} --repository {system}": [
    "--certificate: names a file that does not exist | {nowhere} | a file that you may read | correct the path",
    "<spoke>: can't be the name of a spoke: it is part of names in AWS and in Kubernetes | Blue | at most 40 lower-case letters, digits and hyphens, beginning with a letter, not hub and not beginning with cluster- | choose another name",
  ],
  "reseal blue --deploy-keys mine --repository {system}": [
    "--deploy-keys: has an unknown value | mine | fleet, keep | choose one",
    "<spoke>: is not the name of a spoke in this checkout | blue | a folder in spokes/<fleet> with the spoke.yaml of a Spoke | correct the name or the fleet, or pull the checkout; fleet new-cluster makes a new spoke",
  ],
  "reseal taken --deploy-keys keep --repository {system} --fleet fleet --certificate {certificate}":
    "--deploy-keys: keep leaves nothing to seal: no Git host calls this spoke | {system}/spokes/fleet/taken/spoke.yaml without spec.gitReceiver | keep for a Spoke with gitReceiver, or fleet | set gitReceiver in spoke.yaml first, or seal the fleet's deploy keys again",
  "sealing-keys Blue --repository {system} --certificate {nowhere}": [
    "--certificate: names a file that does not exist | {nowhere} | a file that you may read | correct the path",
    "<spoke>: can't be the name of a spoke: it is part of names in AWS and in Kubernetes | Blue | at most 40 lower-case letters, digits and hyphens, beginning with a letter, not hub and not beginning with cluster- | choose another name",
  ],
  "sealing-keys taken --repository {system} --fleet fleet --certificate {certificate}":
    "<spoke>: needs the outputs of the hub's stack, which name the generations of the spoke's own sealing key | --fleet and --certificate | a sealing key of scope cluster-taken in the hub's stack | leave out --fleet, and name the stack with --stack",
});

rejectsLines("fleet seal", {
  "--cluster taken --namespace flux-system --name api": [
    "--system: is needed: here is no checkout of gitops-system, which says for which scope the cluster's secrets are sealed | (nothing) | a clone of gitops-system; default: the current folder, or gitops-system in it or beside it | name one with --system DIR",
    "--from-file, --from-env-file or --from-stdin: is missing | (nothing) | at least one of them: never a value on the command line, which other users and the shell's history see | name a file, or pipe the value in with --from-stdin KEY. See fleet seal --help",
  ],
  "--cluster blue --namespace Shop --name API_1 --from-stdin a/b --system {system}": [
    "--cluster: is not the name of a spoke in this checkout | blue | a folder in spokes/<fleet> with the spoke.yaml of a Spoke | correct the name or the fleet, or pull the checkout; fleet new-cluster makes a new spoke",
    "--namespace: is not the name of a namespace | Shop | at most 63 lower-case letters, digits and hyphens | correct the name",
    "--name: can't be the name of a Secret | API_1 | lower-case letters, digits, hyphens and dots (a DNS name), at most 253 characters | correct the name",
    "--from-stdin: has a key that no Secret can have | (not shown: it may be a secret) | letters, digits, hyphens, dots and underscores | choose another key; a file is given as --from-file KEY=PATH",
  ],
  "--cluster hub --namespace flux-system --name a --system {workloads} --workloads {nowhere} --from-file {nowhere} --from-file {folder} --certificate {file}":
    [
      "--system: is not a checkout of gitops-system | {workloads} | a clone of gitops-system; default: the current folder, or gitops-system in it or beside it | name one with --system DIR",
      "--workloads: names a folder that does not exist | {nowhere} | a checkout of gitops-workloads | correct the path",
      "--from-file: names a file that does not exist | (not shown: it may be a secret) | a file that you may read | correct the path",
      "--from-file: names a folder | (not shown: it may be a secret) | a file that you may read | correct the path",
      "--certificate: the file is not a certificate in PEM; the public certificate of the scope's sealing key is needed: pulumi stack output --json sealingCertificates | (not shown) | a valid RSA certificate in PEM | give the certificate of the scope's active sealing key",
    ],
  "--cluster taken --namespace shop --name api --system {system} --workloads {workloads}": [
    "--namespace: is not that of an application of taken in {workloads} | shop | flux-system | correct it, pull that checkout if the application is new, or onboard it first: fleet onboard",
    "--from-file, --from-env-file or --from-stdin: is missing | (nothing) | at least one of them: never a value on the command line, which other users and the shell's history see | name a file, or pipe the value in with --from-stdin KEY. See fleet seal --help",
  ],
});

rejectsLines(
  "fleet seal --cluster taken --namespace flux-system --name api --system {system} --workloads {workloads}",
  {
    "--from-env-file {file} --from-file token={file} --from-stdin token": [
      "--from-env-file: line 1 is not key=value | (not shown: it may be a secret) | lines key=value, and comments that begin with # | correct it",
      "--from-stdin: gives a second value of token | (not shown: it may be a secret) | each key once | leave one out",
    ],
    "--type kubernetes.io/tls --from-file tls.crt={certificate} --output {nowhere}/api.yaml": [
      "--output: is in a folder that does not exist | {nowhere}/api.yaml | a file in a folder | make it first",
      "--type: is one of which Kubernetes requires tls.key | kubernetes.io/tls with tls.crt | the type's own keys | give --from-file tls.key=PATH",
    ],
    "--from-stdin token --output {file}":
      "--output: exists, and is not this SealedSecret alone | {file} | a new file, or one with the SealedSecret flux-system/api and nothing else, which is replaced | name another file",
  },
);
