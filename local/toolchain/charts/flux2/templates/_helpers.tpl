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

{{/* Name of a controller's service account, as in the community chart. */}}
{{- define "flux2.serviceAccount" -}}
{{ . }}{{ if eq . "source-watcher" }}-controller{{ end }}
{{- end }}

{{/* Arguments, one a line. They follow the controller's own: of a flag given twice the last one counts. */}}
{{- define "flux2.args" -}}
{{- $values := .root.Values -}}
{{- $name := .controller.name -}}
--watch-all-namespaces=true
--log-level={{ $values.logLevel }}
{{- if eq $name "source-controller" }}
--storage-adv-addr=source-controller.$(RUNTIME_NAMESPACE).svc.cluster.local.
{{- end }}
{{- if and (ne $name "notification-controller") $values.notificationController.create }}
--events-addr=http://notification-controller.$(RUNTIME_NAMESPACE).svc.cluster.local.
{{- end }}
{{- if and (has $name (list "kustomize-controller" "helm-controller")) $values.sourceWatcher.create }}
--feature-gates=ExternalArtifact=true
{{- end }}
{{- if and $values.multitenancy.enabled (not (has $name (list "source-controller" "source-watcher"))) }}
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
{{- $_ := set $deployment.metadata "labels" (merge (dict) $labels $deployment.metadata.labels) -}}
{{- /* As in the community chart, a value without a default. */ -}}
{{- if hasKey $values "replicas" }}{{- $_ := set $deployment.spec "replicas" (int $values.replicas) -}}{{- end -}}
{{- $pod := $deployment.spec.template -}}
{{- $scraped := dict "prometheus.io/port" "8080" "prometheus.io/scrape" "true" -}}
{{- $_ := set $pod.metadata "annotations" (merge (dict) (default (dict) $values.annotations) $scraped) -}}
{{- $_ := set $pod.spec "serviceAccountName" (include "flux2.serviceAccount" .controller.name) -}}
{{- $_ := set $pod.spec "automountServiceAccountToken" true -}}
{{- with $values.affinity }}{{- $_ := set $pod.spec "affinity" . -}}{{- end -}}
{{- with .root.Values.imagePullSecrets }}{{- $_ := set $pod.spec "imagePullSecrets" . -}}{{- end -}}
{{- $container := index $pod.spec.containers 0 -}}
{{- $_ := set $container "image" (printf "%s:%s" $values.image (default .controller.tag $values.tag)) -}}
{{- $_ := set $container "imagePullPolicy" "IfNotPresent" -}}
{{- $_ := set $container "args" (concat $container.args (include "flux2.args" . | splitList "\n")) -}}
{{- $_ := set $container "resources" $values.resources -}}
{{- $_ := set $container "securityContext" (merge (dict "runAsUser" 65534) $container.securityContext) -}}
{{- toYaml $deployment -}}
{{- end }}
