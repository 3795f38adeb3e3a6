{{/* Labels that do not change while a release lives. The argument of all of these: `root`, and `component`. */}}
{{- define "security-console.selector" -}}
app.kubernetes.io/name: {{ .root.Chart.Name }}
app.kubernetes.io/instance: {{ .root.Release.Name }}
app.kubernetes.io/component: {{ .component }}
{{- end }}

{{- define "security-console.labels" -}}
{{ include "security-console.selector" . }}
app.kubernetes.io/version: {{ .root.Chart.AppVersion | quote }}
app.kubernetes.io/managed-by: {{ .root.Release.Service }}
helm.sh/chart: {{ .root.Chart.Name }}-{{ .root.Chart.Version }}
{{- end }}

{{- define "security-console.name" -}}
{{ printf "%s-%s" .root.Release.Name .component }}
{{- end }}

{{- define "security-console.image" -}}
{{- with .root.Values.image -}}
{{- if .digest -}}
{{ .repository }}@{{ .digest }}
{{- else -}}
{{ .repository }}:{{ .tag | default $.root.Chart.AppVersion }}
{{- end -}}
{{- end -}}
{{- end }}

{{/* What the specification of each pod begins with. */}}
{{- define "security-console.pod" -}}
securityContext:
  runAsNonRoot: true
  runAsUser: 1000
  runAsGroup: 1000
  fsGroup: 1000
  seccompProfile: { type: RuntimeDefault }
automountServiceAccountToken: false
enableServiceLinks: false
{{- with .root.Values.imagePullSecrets }}
imagePullSecrets:
  {{- toYaml . | nindent 2 }}
{{- end }}
{{- with .root.Values.nodeSelector }}
nodeSelector:
  {{- toYaml . | nindent 2 }}
{{- end }}
{{- with .root.Values.tolerations }}
tolerations:
  {{- toYaml . | nindent 2 }}
{{- end }}
{{- end }}

{{/* Pods that serve stop in their own time, on nodes of their own as far as there are enough. */}}
{{- define "security-console.server" -}}
terminationGracePeriodSeconds: 40
topologySpreadConstraints:
  - maxSkew: 1
    topologyKey: kubernetes.io/hostname
    whenUnsatisfiable: ScheduleAnyway
    labelSelector:
      matchLabels:
        {{- include "security-console.selector" . | nindent 8 }}
{{- end }}

{{- define "security-console.container" -}}
image: {{ include "security-console.image" . | quote }}
imagePullPolicy: {{ .root.Values.image.pullPolicy }}
securityContext:
  readOnlyRootFilesystem: true
  allowPrivilegeEscalation: false
  capabilities: { drop: [ALL] }
{{- end }}

{{- define "security-console.probes" -}}
startupProbe: { httpGet: { path: /healthz, port: http }, periodSeconds: 2, failureThreshold: 30 }
livenessProbe: { httpGet: { path: /healthz, port: http }, periodSeconds: 10, timeoutSeconds: 3 }
readinessProbe: { httpGet: { path: /readyz, port: http }, periodSeconds: 5, timeoutSeconds: 3 }
{{- end }}

{{/* The settings stand in the pods, so that a change of them replaces the pods, and a hook finds them. */}}
{{- define "security-console.settings" -}}
{{- range $name, $value := .root.Values.settings }}
- { name: {{ $name }}, value: {{ $value | quote }} }
{{- end }}
{{- range $name, $key := .root.Values.secrets.service.files }}
- { name: {{ $name }}, value: /run/secrets/service/{{ $key }} }
{{- end }}
{{- if and .root.Values.blobs.claim (ne .component "migrate") }}
- { name: CONSOLE_BLOBS, value: "file:/srv/files" }
- { name: CONSOLE_BLOBS_SHARED, value: "on" }
{{- end }}
{{- end }}

{{- define "security-console.mounts" -}}
- { name: service, mountPath: /run/secrets/service, readOnly: true }
- { name: temporary, mountPath: /tmp }
{{- if and .root.Values.blobs.claim (ne .component "migrate") }}
- { name: files, mountPath: /srv/files }
{{- end }}
{{- end }}

{{- define "security-console.volumes" -}}
- { name: service, secret: { secretName: {{ .root.Values.secrets.service.name }} } }
- { name: temporary, emptyDir: {} }
{{- if and .root.Values.blobs.claim (ne .component "migrate") }}
- { name: files, persistentVolumeClaim: { claimName: {{ .root.Values.blobs.claim }} } }
{{- end }}
{{- end }}
