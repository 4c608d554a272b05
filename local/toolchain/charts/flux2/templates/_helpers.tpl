{{/* Labels of every object, and of one controller's objects (with "component"). */}}
{{- define "flux2.labels" -}}
app.kubernetes.io/instance: {{ .root.Release.Namespace | quote }}
app.kubernetes.io/managed-by: {{ .root.Release.Service | quote }}
app.kubernetes.io/part-of: flux
app.kubernetes.io/version: {{ .root.Chart.AppVersion | quote }}
helm.sh/chart: {{ printf "%s-%s" .root.Chart.Name (.root.Chart.Version | replace "+" "_") }}
{{- with .component }}
app.kubernetes.io/component: {{ . }}
{{- end }}
{{- end }}

{{/* Arguments from values, one a line. They follow the controller's own: of a flag given twice the last one counts. */}}
{{- define "flux2.args" -}}
{{- $values := .root.Values -}}
{{- $name := .controller.name -}}
{{- $domain := $values.clusterDomain -}}
--watch-all-namespaces={{ $values.watchAllNamespaces }}
--log-level={{ $values.logLevel }}
{{- if eq $name "source-controller" }}
--storage-adv-addr=source-controller.$(RUNTIME_NAMESPACE).svc.{{ $domain }}.
{{- end }}
{{- if and $values.notificationController.create (ne $name "notification-controller") }}
--events-addr=http://notification-controller.$(RUNTIME_NAMESPACE).svc.{{ $domain }}.
{{- end }}
{{- if and $values.multitenancy.enabled (ne $name "source-controller") }}
--no-cross-namespace-refs=true
{{- end }}
{{- if and $values.multitenancy.enabled (has $name (list "kustomize-controller" "helm-controller")) }}
--default-service-account={{ $values.multitenancy.defaultServiceAccount }}
{{- end }}
{{- range .values.container.additionalArgs }}
{{ . }}
{{- end }}
{{- end }}

{{/* The controller's own Deployment with the values laid over it. */}}
{{- define "flux2.deployment" -}}
{{- $values := .values -}}
{{- $deployment := deepCopy .controller.deployment -}}
{{- $labels := include "flux2.labels" (dict "root" .root "component" .controller.name) | fromYaml -}}
{{- $_ := set $deployment.metadata "labels" (merge (dict) $values.labels $labels $deployment.metadata.labels) -}}
{{- /* As in the community chart, a value without a default. */ -}}
{{- if hasKey $values "replicas" }}{{- $_ := set $deployment.spec "replicas" (int $values.replicas) -}}{{- end -}}
{{- $pod := $deployment.spec.template -}}
{{- $_ := set $pod.metadata "labels" (merge (dict) $values.labels $pod.metadata.labels) -}}
{{- $_ := set $pod.metadata "annotations" $values.annotations -}}
{{- $_ := set $pod.spec "serviceAccountName" .controller.name -}}
{{- $_ := set $pod.spec "automountServiceAccountToken" $values.serviceAccount.automount -}}
{{- with $values.podSecurityContext }}{{- $_ := set $pod.spec "securityContext" . -}}{{- end -}}
{{- range $field := list "priorityClassName" "nodeSelector" "affinity" "tolerations" -}}
{{- with get $values $field }}{{- $_ := set $pod.spec $field . -}}{{- end -}}
{{- end -}}
{{- with .root.Values.imagePullSecrets }}{{- $_ := set $pod.spec "imagePullSecrets" . -}}{{- end -}}
{{- $_ := set $pod.spec "volumes" (concat $pod.spec.volumes $values.volumes) -}}
{{- $container := index $pod.spec.containers 0 -}}
{{- $tag := $values.tag | default .controller.tag -}}
{{- $_ := set $container "image" (printf (ternary "%s@%s" "%s:%s" (hasPrefix "sha256:" $tag)) $values.image $tag) -}}
{{- $_ := set $container "imagePullPolicy" ($values.imagePullPolicy | default "IfNotPresent") -}}
{{- $_ := set $container "args" (concat $container.args (include "flux2.args" . | splitList "\n")) -}}
{{- $_ := set $container "env" (concat $container.env $values.extraEnv) -}}
{{- $_ := set $container "resources" $values.resources -}}
{{- $_ := set $container "volumeMounts" (concat $container.volumeMounts $values.volumeMounts) -}}
{{- $_ := set $container "securityContext" ($values.securityContext | default (merge (dict "runAsUser" 65534) $container.securityContext)) -}}
{{- toYaml $deployment -}}
{{- end }}

{{/* One of the controller's own Services; the webhook receiver's has its values in a place of its own. */}}
{{- define "flux2.service" -}}
{{- $service := deepCopy .service -}}
{{- $values := .values.service -}}
{{- if eq $service.metadata.name "webhook-receiver" }}{{- $values = .values.webhookReceiver.service -}}{{- end -}}
{{- $labels := include "flux2.labels" (dict "root" .root "component" .controller.name) | fromYaml -}}
{{- $_ := set $service.metadata "labels" (merge (dict) $values.labels $labels $service.metadata.labels) -}}
{{- with $values.annotations }}{{- $_ := set $service.metadata "annotations" . -}}{{- end -}}
{{- toYaml $service -}}
{{- end }}
