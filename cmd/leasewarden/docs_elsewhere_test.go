package main

// runElsewhere are the commands in the guides that another test runs, or does the
// same as, and which: a test of this repository, or a target of the Makefile. Such a
// target itself ("make demo") needs no entry. TestEveryCommandInTheGuidesIsRun runs
// all others.
var runElsewhere = map[string]string{
	// The manifests and the image, which these tests build or apply.
	"make image IMAGE=registry.example.com/leasewarden:v0.1.0":                                             "TestImageIsBuiltFromAllThereIs",
	"cd manifests/default && kustomize edit set image leasewarden=registry.example.com/leasewarden:v0.1.0": "TestChartIsTheKustomization",
	"kubectl apply -k .": "TestDoctor",
	"kubectl apply -f ../samples/oldest-emulation-version.yaml":                      "TestSamples",
	"kubectl apply -k manifests/crds && kubectl create namespace leasewarden-system": "TestElectionsGoOnWithoutTheCRDs",
	"kubectl apply -k manifests/overlays/dry-run":                                    "TestArguments",
	"kubectl apply -k manifests/overlays/cert-manager":                               "TestCertManager",
	"kubectl apply -k manifests/monitoring":                                          "TestAlertsFire",
	"kubectl apply -k manifests/overlays/static-webhook":                             "TestStaticWebhooks",
	"kubectl apply -f manifests/samples/audit-everything.yaml":                       "TestSamples",
	"kubectl delete -k manifests/default":                                            "TestUninstallLeavesNothing",

	"helm install leasewarden charts/leasewarden -n leasewarden-system --create-namespace --set image.repository=registry.example.com/leasewarden --set image.tag=v0.1.0": "TestChartIsTheKustomization",

	// On a real cluster.
	"leasewarden pick --lease kube-system/kube-scheduler":                                      "TestPickAsksTheCluster",
	"kubectl get elections -A":                                                                 "TestElectionTellsWhoLeadsAndWhy",
	"kubectl get elections -A -o wide":                                                         "TestElectionTellsWhoLeadsAndWhy",
	"kubectl describe election NAME":                                                           "TestElectionTellsWhoLeadsAndWhy",
	`kubectl patch electionpolicy NAME --type merge -p '{"spec":{"mode":"Enforce"}}'`:          "TestModeChangesLive",
	"kubectl -n leasewarden-system delete secret leasewarden-ca":                               "TestTheCAIsReplaced",
	"kubectl -n leasewarden-system get events --field-selector type=Warning":                   "TestCertificatesOfOnesOwn",
	"kubectl delete validatingwebhookconfigurations,mutatingwebhookconfigurations leasewarden": "TestUninstallLeavesNothing",
	"bin/leasewarden serve --kubeconfig ~/.kube/config --webhook-url https://HOST:9443":        "TestElectionsGoOnWithoutTheWebhook",
	"leasewarden uninstall --yes":                                                              "TestUninstallLeavesNothing",
	"leasewarden doctor":                                                                       "TestDoctor",

	// Simulated clusters, of which "make test" plays other numbers.
	"go test -c -o /tmp/simulation ./test/simulation":                 "TestSeeds",
	"SEEDS=1 START=82 /tmp/simulation -test.run 'TestSeeds$' -test.v": "TestSeeds",

	// By hand.
	"go -C test/localcluster run ./failover --rounds 20 --only kill --json out.json": "make bench-failover",
	`make soak SOAK="--seed 7 --duration 10m --faults 'leader killed,etcd'"`:         "TestSoakOfAMinute",
}
