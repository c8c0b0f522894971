package main

const pickLong = `Shows who would be chosen to lead each governed Lease, and why, without touching
anything: as a table of the candidates in order, or as JSON or YAML.

With -f it reads manifests alone: policies, Pods, Nodes, Namespaces, Leases,
LeaseCandidates, Candidates, Elections, ReplicaSets and ControllerRevisions, as
YAML or JSON, one or many to a file, also as "kubectl get -o yaml" prints them.
Other kinds are left out. Policies are checked as strictly as when they are
applied. An object in two files counts as the later file has it, so that a
changed policy can be tried on a copy of a cluster. A governed Lease without an
object is vacant.

Without -f it asks the cluster, for the namespace of the kubeconfig unless -n or
-A is given.

JSON has one object per Lease, one after the other; YAML has one document per
Lease. So "jq .chosen" works for one Lease and for many. The keys of each:
  lease, policy, strategy, mode   "namespace/name", "Kind/name", ...
  holder       {name, identity, termOver}, or null
  chosen       the candidate that should lead; null: none is eligible, or (with
               anyEligible true) any eligible one may acquire
  identity     the holder identity that the chosen candidate writes; null: not
               known
  criterion    what decided
  criteria     the names of the scores, the first counts most
  candidates   [{name, source, eligible, reason, scores, ...}], in order; scores
               is an object with the criteria as keys

Exit status: 0 if every Lease has a candidate that may lead, 3 if one has none,
2 if the input cannot be used.`

const pickExample = `  # Who should lead according to this policy, given what runs in the cluster?
  kubectl get pods,nodes,leases -n kube-system -o yaml | leasewarden pick -f - -f policy.yaml

  # In CI: does the policy choose the old version during an upgrade?
  leasewarden pick -f policy.yaml -f upgrade.yaml --now 2026-01-31T15:04:05Z -o json | jq -e '.chosen == "kube-scheduler-cp-3"'

  # Why was this one chosen in the cluster?
  leasewarden pick --lease kube-system/kube-scheduler`
