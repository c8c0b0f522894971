package main

const auditLong = `Reads audit logs of kube-apiserver and tells, for each Lease, who held it, from
when to when, why each term ended and how long nobody led. With policies it also
tells which attempts to acquire a Lease they would have refused, who would have
led instead, and how many changes of the leader that saves or adds. It needs no
cluster, and Leasewarden need not have been there.

Logs are JSON lines of audit.k8s.io/v1, plain or gzipped. Several are merged in
the order of time: rotated files one after the other, those of several API
servers side by side. Leases have to be recorded at the level Request or
RequestResponse, Pods at RequestResponse; manifests/audit/audit-policy.yaml is
an audit policy that does, and no more. What Pods there were before the log
begins, and their Nodes, can be given with -f.

A line that is broken, cut off, far out of order or there twice is counted and
named in the report, and the rest is read all the same.

Exit status: 0 if the logs were read, 2 if there is nothing in them to be read
or an input cannot be used.`

const auditExample = `  # Who led, and when did nobody?
  leasewarden audit --log /var/log/kubernetes/audit.log

  # What would this policy have changed in the last days?
  kubectl get pods,nodes -n kube-system -o yaml > pods.yaml
  leasewarden audit --policy policy.yaml -f pods.yaml --log audit.log --log audit-old.log.gz

  # The same as a page to look at and to pass on.
  leasewarden audit --policy policy.yaml -f pods.yaml --log audit.log -o html > audit.html`
