{{- /* The Secret that is mounted. Empty: Leasewarden makes certificates of its own. */}}
{{- define "leasewarden.secretName" -}}
{{- if .Values.certificates.certManager }}leasewarden-tls{{ else }}{{ .Values.certificates.secretName }}{{ end }}
{{- end }}
