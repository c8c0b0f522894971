// Package localcluster starts a real Kubernetes cluster on this machine, without
// a container engine: etcd, kube-apiserver, kube-controller-manager and
// kube-scheduler are built from their Go modules (package binaries), started
// with controller-runtime's envtest, and joined by nodes whose containers are
// processes (package kubelet).
//
// Everything listens on loopback addresses. Everything ends with the process
// that called Start, also when that is killed (package process).
//
//	cluster, err := localcluster.Start(ctx, localcluster.Options{
//		Nodes:  []localcluster.Node{{Name: "node-1"}, {Name: "node-2"}},
//		Images: map[string]string{"my-controller": "/path/to/program"},
//	})
//	if err != nil { ... }
//	defer cluster.Stop()
//	client, err := kubernetes.NewForConfig(cluster.Config())
package localcluster
