{{- define "ack.fullname" -}}
{{ .Values.fullnameOverride | default (printf "%s-%s" .Release.Name .Chart.Name) | trunc 63 | trimSuffix "-" }}
{{- end }}

{{- define "ack.labels" -}}
app.kubernetes.io/name: {{ .Chart.Name }}
app.kubernetes.io/instance: {{ .Release.Name }}
app.kubernetes.io/managed-by: Helm
app.kubernetes.io/version: {{ .Chart.AppVersion | quote }}
helm.sh/chart: {{ printf "%s-%s" .Chart.Name .Chart.Version }}
{{- end }}

{{- define "ack.namespaces" -}}
{{ if eq .Values.installScope "namespace" }}{{ .Values.watchNamespace | default .Release.Namespace }}{{ end }}
{{- end }}

{{- define "ack.rules" -}}
- apiGroups: [""]
  resources: [configmaps, secrets]
  verbs: [get, list, patch, watch]
- apiGroups: [""]
  resources: [namespaces]
  verbs: [get, list, watch]
- apiGroups: [services.k8s.aws]
  resources: [fieldexports, iamroleselectors]
  verbs: [create, delete, get, list, patch, update, watch]
- apiGroups: [services.k8s.aws]
  resources: [fieldexports/status, iamroleselectors/status]
  verbs: [get, patch, update]
- apiGroups: [__group__]
  resources: [__plural__]
  verbs: [create, delete, get, list, patch, update, watch]
- apiGroups: [__group__]
  resources: [__plural__/status]
  verbs: [get, patch, update]
{{- end }}
