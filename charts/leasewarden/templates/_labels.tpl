{{- define "leasewarden.labels" -}}
app.kubernetes.io/name: leasewarden
{{- end }}
