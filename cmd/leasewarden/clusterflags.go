package main

import (
	"errors"

	"github.com/spf13/pflag"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/clientcmd"
)

// clusterFlags say which cluster to ask, in kubectl's words.
type clusterFlags struct {
	path, context, namespace string
}

// errNoCluster says that there is no kubeconfig, or an empty one.
var errNoCluster = errors.New("no cluster: give one with --kubeconfig or $KUBECONFIG")

func (k *clusterFlags) addFlags(f *pflag.FlagSet, namespace string) {
	f.StringVar(&k.path, "kubeconfig", "", "the kubeconfig; default: $KUBECONFIG, then ~/.kube/config")
	f.StringVar(&k.context, "context", "", "the context of the kubeconfig")
	f.StringVarP(&k.namespace, "namespace", "n", "", namespace)
}

// load returns how to reach the cluster, and the namespace to look at.
func (k *clusterFlags) load() (*rest.Config, string, error) {
	rules := clientcmd.NewDefaultClientConfigLoadingRules()
	rules.ExplicitPath = k.path
	overrides := &clientcmd.ConfigOverrides{CurrentContext: k.context}
	overrides.Context.Namespace = k.namespace
	loader := clientcmd.NewNonInteractiveDeferredLoadingClientConfig(rules, overrides)
	config, err := loader.ClientConfig()
	if clientcmd.IsEmptyConfig(err) {
		return nil, "", errNoCluster
	}
	if err != nil {
		return nil, "", err
	}
	namespace, _, err := loader.Namespace()
	return config, namespace, err
}
