package main

const simulateLong = `Plays a scenario many times in virtual time, without a policy and under each of
the policies given, and compares how often the leader changes, how long nobody
leads, and how often a leader is newer than an API server.

The electors behave as client-go's, with its timings and its jitter; who may
acquire is decided by the same code as in a cluster. Policies are enforced,
whatever their mode. The same scenario gives the same figures each time.

A scenario names the replicas with their versions, nodes and zones, the timings
of the electors, and what happens when: a node is replaced, a process crashes, a
zone loses power, a replica is cut off from the API server, a Deployment is
rolled out. docs/simulating.md has them all, and samples.

Exit status: 0, or 2 if an input cannot be used.`

const simulateExample = `  # What does an upgrade cost without a policy, and with this one?
  leasewarden simulate --scenario upgrade.yaml --policy control-plane.yaml

  # Compare two policies, with more certainty.
  leasewarden simulate --scenario upgrade.yaml --policy a.yaml --policy b.yaml --runs 5000`
