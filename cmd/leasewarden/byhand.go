package main

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"

	"github.com/spf13/cobra"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/utils/clock"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/leasewarden/leasewarden/api/v1alpha1"
)

// handFieldManager owns what these commands write.
const handFieldManager = "leasewarden-cli"

// hand is what the commands that work on Elections have in common.
type hand struct {
	clock      clock.Clock
	kubeconfig clusterFlags
	// client and namespace are set by connect. Tests set them before.
	client    client.Client
	namespace string
}

func (h *hand) addFlags(c *cobra.Command) {
	h.kubeconfig.addFlags(c.Flags(), "the namespace of the Lease; default: that of the kubeconfig's context")
	c.SetFlagErrorFunc(func(_ *cobra.Command, err error) error { return unusable(err) })
	h.completeLeases(c)
	cobra.CheckErr(c.RegisterFlagCompletionFunc("namespace", h.completeNamespaces))
}

// exactArgs wants these arguments, and names what is missing.
func exactArgs(names ...string) cobra.PositionalArgs {
	return func(c *cobra.Command, args []string) error {
		switch {
		case len(args) < len(names):
			return unusable(fmt.Errorf("%s is missing: %s", names[len(args)], c.UseLine()))
		case len(args) > len(names):
			return unusable(fmt.Errorf("unexpected argument %q: %s", args[len(names)], c.UseLine()))
		}
		return nil
	}
}

// connect makes the client. It asks the cluster nothing yet.
func (h *hand) connect() error {
	if h.client != nil {
		return nil
	}
	config, namespace, err := h.kubeconfig.load()
	if err != nil {
		return unusable(err)
	}
	// One request at a time needs no limit, and the API server has its own.
	config.QPS = -1
	scheme := runtime.NewScheme()
	if err := v1alpha1.AddToScheme(scheme); err != nil {
		return err
	}
	// Only Elections are asked for, so there is nothing to discover.
	mapper := meta.NewDefaultRESTMapper(nil)
	mapper.Add(v1alpha1.GroupVersion.WithKind("Election"), meta.RESTScopeNamespace)
	h.client, err = client.New(config, client.Options{Scheme: scheme, Mapper: mapper})
	h.namespace = namespace
	return err
}

// key is the Lease of an argument, NAME or NAMESPACE/NAME.
func (h *hand) key(arg string) (types.NamespacedName, error) {
	namespace, name, qualified := splitLease(arg)
	switch {
	case qualified && (namespace == "" || name == "" || strings.Contains(name, "/")), name == "":
		return types.NamespacedName{}, unusable(fmt.Errorf("%q is not a Lease: give NAME or NAMESPACE/NAME", arg))
	case !qualified:
		namespace = h.namespace
	case h.kubeconfig.namespace != "" && namespace != h.kubeconfig.namespace:
		return types.NamespacedName{}, unusable(fmt.Errorf("%q is not in the namespace %s that -n gives", arg, h.kubeconfig.namespace))
	}
	return types.NamespacedName{Namespace: namespace, Name: name}, nil
}

// election connects, and reads the Election of the Lease that an argument names.
func (h *hand) election(ctx context.Context, arg string) (*v1alpha1.Election, error) {
	if err := h.connect(); err != nil {
		return nil, err
	}
	key, err := h.key(arg)
	if err != nil {
		return nil, err
	}
	e := &v1alpha1.Election{}
	err = h.client.Get(ctx, key, e)
	switch {
	case apierrors.IsNotFound(err):
		return nil, unusable(noElection{key})
	case err != nil:
		return nil, fmt.Errorf("reading Election %s: %w", key, err)
	}
	return e, nil
}

// governed reads the Election of a Lease that a policy governs.
func (h *hand) governed(ctx context.Context, arg string) (*v1alpha1.Election, error) {
	e, err := h.election(ctx, arg)
	if err == nil && e.Status.Policy == "" {
		return nil, unusable(noElection{client.ObjectKeyFromObject(e)})
	}
	return e, err
}

// noElection is the error for a Lease that nothing is published of.
type noElection struct{ lease types.NamespacedName }

func (n noElection) Error() string {
	return fmt.Sprintf("nothing is known of Lease %s: it does not exist, no policy governs it, or Leasewarden does not run; "+
		"\"leasewarden status -A\" lists the Leases that are governed", n.lease)
}

// want changes fields of an Election's spec, null to remove them. Other fields
// stay as they are, whoever wrote them.
func (h *hand) want(ctx context.Context, e *v1alpha1.Election, fields map[string]any) error {
	patch, err := json.Marshal(map[string]any{"spec": fields})
	if err != nil {
		return err
	}
	err = h.client.Patch(ctx, e, client.RawPatch(types.MergePatchType, patch), client.FieldOwner(handFieldManager))
	if err != nil {
		return fmt.Errorf("writing the spec of Election %s: %w", client.ObjectKeyFromObject(e), err)
	}
	return nil
}

// describeHolder says who holds a Lease.
func describeHolder(e *v1alpha1.Election) string {
	if e.Status.Holder == nil {
		return "nobody holds it"
	}
	return "held by " + e.Status.Holder.Name
}
