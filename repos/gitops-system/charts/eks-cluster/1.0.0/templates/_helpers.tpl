{{/* Name of the EKS cluster and of the objects: the AWS provider finds what it made by a tag with this name, so no other fleet in the account may have it. */}}
{{- define "eks-cluster.name" -}}
{{- $name := printf "%s-spoke-%s" .Values.cluster.fleet .Values.cluster.name -}}
{{- /* A role's name has at most 64 characters, and .aws-ebs-csi-driver and .node-<pool> are appended. */ -}}
{{- if gt (len $name) 38 -}}
{{- fail (printf "cluster %s must have at most 38 characters, for the names of its roles; got %d: choose a shorter cluster.name" $name (len $name)) -}}
{{- end -}}
{{- $name -}}
{{- end }}

{{/* The tags of everything that the Spoke of this name has in AWS. */}}
{{- define "eks-cluster.tags" -}}
{{- $fleet := dict "fleet.internal/fleet" .Values.cluster.fleet "fleet.internal/cluster" .Values.cluster.name "eks-cluster-name" (include "eks-cluster.name" .) "environment" .Values.cluster.environment -}}
{{- merge $fleet .Values.tags | toJson -}}
{{- end }}

{{/* Settings of EKS add-ons: what they make carries the tags too. */}}
{{- define "eks-cluster.addonConfiguration" -}}
{{- $tags := merge (dict "fleet.internal/made-by" "cluster-api") (include "eks-cluster.tags" .root | fromJson) -}}
{{- if eq .name "vpc-cni" -}}
{{- dict "enableNetworkPolicy" "true" "env" (dict "ADDITIONAL_ENI_TAGS" (toJson $tags)) | toJson -}}
{{- else if eq .name "aws-ebs-csi-driver" -}}
{{- dict "controller" (dict "extraVolumeTags" $tags) | toJson -}}
{{- end -}}
{{- end }}
