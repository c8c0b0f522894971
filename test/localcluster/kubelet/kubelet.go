package kubelet

import (
	"context"
	"crypto/tls"
	"fmt"
	"net"
	"net/http"
	"os"
	"strconv"
	"sync"
	"time"

	"github.com/virtual-kubelet/virtual-kubelet/node"
	"github.com/virtual-kubelet/virtual-kubelet/node/nodeutil"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/kubernetes/scheme"
	corev1client "k8s.io/client-go/kubernetes/typed/core/v1"
	"k8s.io/client-go/tools/record"
)

// Kubelet is one node. Create it with New, then call Run.
type Kubelet struct {
	config     Config
	client     kubernetes.Interface
	connection *connection
	recorder   record.EventRecorder
	broadcast  record.EventBroadcaster
	node       *nodeutil.Node
	server     *http.Server
	listener   net.Listener

	mu      sync.Mutex
	stopped bool // the kubelet plays dead
	pods    map[types.UID]*podWorker
	latest  map[types.NamespacedName]*podWorker
	workers sync.WaitGroup
}

// New returns a kubelet that is not running yet.
func New(config Config) (*Kubelet, error) {
	if err := config.complete(); err != nil {
		return nil, err
	}
	fail := func(err error) (*Kubelet, error) {
		return nil, fmt.Errorf("cannot set up node %s: %w", config.NodeName, err)
	}
	if err := os.MkdirAll(config.Dir, 0o755); err != nil {
		return fail(err)
	}
	k := &Kubelet{
		config: config,
		pods:   map[types.UID]*podWorker{},
		latest: map[types.NamespacedName]*podWorker{},
	}
	connection, restConfig := newConnection(config.RESTConfig)
	client, err := kubernetes.NewForConfig(restConfig)
	if err != nil {
		return fail(err)
	}
	k.client, k.connection = client, connection
	k.listener, err = net.Listen("tcp", net.JoinHostPort(config.IP, "0"))
	if err != nil {
		return fail(err)
	}
	_, port, err := net.SplitHostPort(k.listener.Addr().String())
	if err != nil {
		return fail(err)
	}
	portNumber, err := strconv.Atoi(port)
	if err != nil {
		return fail(err)
	}
	k.broadcast = record.NewBroadcaster()
	k.recorder = k.broadcast.NewRecorder(scheme.Scheme, corev1.EventSource{Component: "kubelet", Host: config.NodeName})

	mux := http.NewServeMux()
	k.node, err = nodeutil.NewNode(config.NodeName,
		func(nodeutil.ProviderConfig) (nodeutil.Provider, node.NodeProvider, error) {
			return k, node.NewNaiveNodeProvider(), nil
		},
		nodeutil.WithClient(client),
		nodeutil.AttachProviderRoutes(mux),
		func(c *nodeutil.NodeConfig) error {
			c.NodeSpec = *nodeObject(config, int32(portNumber))
			c.EventRecorder = k.recorder
			c.SkipDownwardAPIResolution = true // done here, where the pod's address is known
			c.NumWorkers = 4
			return nil
		},
		nodeutil.WithPodControllerConfigOverrides(func(c *node.PodControllerConfig) error {
			c.PodClient = guardedPodsGetter{PodsGetter: c.PodClient, kubelet: k}
			return nil
		}),
	)
	if err != nil {
		k.listener.Close()
		return fail(err)
	}
	k.server = &http.Server{Handler: mux, ReadHeaderTimeout: 30 * time.Second}
	return k, nil
}

// Run runs the node until the context ends, then kills all of its containers.
func (k *Kubelet) Run(ctx context.Context) error {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	k.broadcast.StartRecordingToSink(&corev1client.EventSinkImpl{Interface: k.client.CoreV1().Events("")})
	defer k.broadcast.Shutdown()
	tlsListener := tls.NewListener(k.listener, &tls.Config{
		Certificates: []tls.Certificate{k.config.ServingCertificate},
		ClientAuth:   tls.RequireAndVerifyClientCert,
		ClientCAs:    k.config.ClientCAs,
		MinVersion:   tls.VersionTLS12,
	})
	go func() { _ = k.server.Serve(tlsListener) }()
	defer k.server.Close()

	var relist sync.WaitGroup
	relist.Go(func() { k.relist(ctx) })
	err := k.node.Run(ctx)
	cancel()
	relist.Wait()
	k.killAll()
	k.workers.Wait()
	if err != nil && ctx.Err() == nil {
		return fmt.Errorf("node %s has ended: %w", k.config.NodeName, err)
	}
	return nil
}

// Ready is closed when the node has registered and takes pods.
func (k *Kubelet) Ready() <-chan struct{} { return k.node.Ready() }

// Done is closed when Run has ended by itself or was ended.
func (k *Kubelet) Done() <-chan struct{} { return k.node.Done() }

// relist looks at all containers once per relistPeriod.
func (k *Kubelet) relist(ctx context.Context) {
	ticker := k.config.Clock.NewTicker(relistPeriod)
	defer ticker.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-ticker.C():
		}
		for _, w := range k.allWorkers() {
			w.relist()
		}
	}
}

func (k *Kubelet) allWorkers() []*podWorker {
	k.mu.Lock()
	defer k.mu.Unlock()
	workers := make([]*podWorker, 0, len(k.pods))
	for _, w := range k.pods {
		workers = append(workers, w)
	}
	return workers
}

func (k *Kubelet) killAll() {
	for _, w := range k.allWorkers() {
		w.shutDown()
	}
}

// Stop makes the kubelet play dead: it reports nothing, renews no node lease
// and does nothing for its pods, whose processes go on. Resume ends that.
func (k *Kubelet) Stop() {
	k.mu.Lock()
	k.stopped = true
	k.mu.Unlock()
	k.connection.close()
}

// Crash is Stop for the whole machine: the containers are killed as well, and
// nobody reports it.
func (k *Kubelet) Crash() {
	k.Stop()
	for _, w := range k.allWorkers() {
		w.kill()
	}
}

// Resume brings the kubelet back after Stop or Crash. It may take half a minute
// until it has noticed what happened meanwhile, since its connections are
// retried with a back-off.
func (k *Kubelet) Resume() {
	k.connection.reopen()
	k.mu.Lock()
	k.stopped = false
	k.mu.Unlock()
}

func (k *Kubelet) isStopped() bool {
	k.mu.Lock()
	defer k.mu.Unlock()
	return k.stopped
}
