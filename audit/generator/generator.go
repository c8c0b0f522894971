package generator

import (
	"bufio"
	"fmt"
	"io"
	"math/rand/v2"
	"time"
)

// Options say what log to write.
type Options struct {
	// Bytes is how long it gets, give or take a line.
	Bytes int64
	// Leases are the elected components. Default: 4.
	Leases int
	// Others is the share of lines, from 0 to 1, that are about neither elected
	// Leases nor Pods, as in a log that records everything.
	Others float64
	// Start is the time of the first line. Default: the start of 2026.
	Start time.Time
	// Seed of the chance.
	Seed uint64
}

const (
	// replicas of each component; duration, renewEvery and handEvery are client-go's
	// timings, and how long a holder leads on average.
	replicas   = 3
	duration   = 15 * time.Second
	renewEvery = 2 * time.Second
	handEvery  = time.Hour
)

// Namespace is where the Leases and Pods are.
const Namespace = "kube-system"

// Write writes the log.
func Write(w io.Writer, o Options) error {
	if o.Leases == 0 {
		o.Leases = 4
	}
	if o.Start.IsZero() {
		o.Start = time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)
	}
	g := &generator{
		Options: o, now: o.Start, out: bufio.NewWriterSize(w, 1<<20),
		random: rand.New(rand.NewPCG(o.Seed, 0)), leases: make([]lease, o.Leases),
	}
	for i := range g.leases {
		for replica := range replicas {
			g.pod(i, replica)
		}
	}
	for g.written < o.Bytes {
		g.round()
	}
	if g.err != nil {
		return g.err
	}
	return g.out.Flush()
}

type generator struct {
	Options
	now     time.Time
	out     *bufio.Writer
	random  *rand.Rand
	leases  []lease
	version int
	written int64
	err     error
}

// lease is the state of one Lease. generation counts its holders.
type lease struct {
	holder, generation int
	acquired           time.Time
}

// round is what happens in one retry period: every holder renews, now and then
// one gives way to the next, and much else is written meanwhile.
func (g *generator) round() {
	step := renewEvery / time.Duration(g.Options.Leases)
	for i := range g.leases {
		g.lease(i)
		for g.random.Float64() < g.Others {
			g.other()
		}
		g.now = g.now.Add(step)
	}
}

func (g *generator) lease(i int) {
	l := &g.leases[i]
	switch {
	case l.acquired.IsZero():
		l.acquired = g.now
	case g.random.Float64() < float64(renewEvery)/float64(handEvery):
		g.update(i, "")
		g.pod(i, l.holder)
		l.generation++
		l.holder = g.random.IntN(replicas)
		l.acquired = g.now
	}
	g.update(i, identity(i, l))
}

func name(i int) string { return fmt.Sprintf("component-%d", i) }

func podName(i, replica int) string { return fmt.Sprintf("%s-%d", name(i), replica) }

func identity(i int, l *lease) string {
	return fmt.Sprintf("%s_%08x-0000-4000-8000-000000000000", podName(i, l.holder), l.generation)
}

// update writes the Lease, at the level RequestResponse.
func (g *generator) update(i int, holder string) {
	g.version++
	l := &g.leases[i]
	spec := fmt.Sprintf(`{"holderIdentity":%q,"leaseDurationSeconds":%d,"acquireTime":%q,"renewTime":%q,"leaseTransitions":%d}`,
		holder, int(duration.Seconds()), micro(l.acquired), micro(g.now), l.generation)
	object := fmt.Sprintf(`{"kind":"Lease","apiVersion":"coordination.k8s.io/v1","metadata":{"name":%q,"namespace":%q,"uid":"2c5a3d0e-0000-4000-8000-%012d","resourceVersion":"%d","creationTimestamp":"2026-01-01T00:00:00Z"},"spec":%s}`,
		name(i), Namespace, i, g.version, spec)
	g.event("update", "/apis/coordination.k8s.io/v1/namespaces/"+Namespace+"/leases/"+name(i),
		fmt.Sprintf(`{"resource":"leases","namespace":%q,"name":%q,"apiGroup":"coordination.k8s.io","apiVersion":"v1"}`, Namespace, name(i)),
		podName(i, l.holder), object, object)
}

// pod has a Pod replaced, with much that nobody needs in it.
func (g *generator) pod(i, replica int) {
	g.version++
	pod := fmt.Sprintf(`{"kind":"Pod","apiVersion":"v1","metadata":{"name":%q,"namespace":%q,"uid":"5f0a3d0e-0000-4000-8000-%012d","resourceVersion":"%d","creationTimestamp":%q,"labels":{"app":%q,"version":"v1.%d.0"}},"spec":{"nodeName":"node-%d","containers":[{"name":"main","image":"example.com/component:v1.%[7]d.0","args":["--leader-elect=true","--v=2"]}]},"status":{"phase":"Running","startTime":%[5]q}}`,
		podName(i, replica), Namespace, g.version, g.version, g.now.Format(time.RFC3339), name(i), 30+g.random.IntN(8), replica)
	g.event("patch", "/api/v1/namespaces/"+Namespace+"/pods/"+podName(i, replica)+"/status",
		fmt.Sprintf(`{"resource":"pods","namespace":%q,"name":%q,"apiVersion":"v1","subresource":"status"}`, Namespace, podName(i, replica)),
		"kubelet", `{"status":{"phase":"Running"}}`, pod)
}

// other is a line about something else: a Node's heartbeat, a read, an Event.
func (g *generator) other() {
	node := fmt.Sprintf("node-%d", g.random.IntN(100))
	switch g.random.IntN(3) {
	case 0:
		object := fmt.Sprintf(`{"kind":"Lease","apiVersion":"coordination.k8s.io/v1","metadata":{"name":%q,"namespace":"kube-node-lease"},"spec":{"holderIdentity":%[1]q,"leaseDurationSeconds":40,"renewTime":%q}}`, node, micro(g.now))
		g.event("update", "/apis/coordination.k8s.io/v1/namespaces/kube-node-lease/leases/"+node,
			fmt.Sprintf(`{"resource":"leases","namespace":"kube-node-lease","name":%q,"apiGroup":"coordination.k8s.io","apiVersion":"v1"}`, node),
			node, object, object)
	case 1:
		g.event("get", "/api/v1/namespaces/default/configmaps/settings",
			`{"resource":"configmaps","namespace":"default","name":"settings","apiVersion":"v1"}`, node, "", "")
	default:
		object := fmt.Sprintf(`{"kind":"Event","apiVersion":"v1","metadata":{"name":"web.%016x","namespace":"default"},"involvedObject":{"kind":"Deployment","namespace":"default","name":"web"},"reason":"Scaled","message":"Scaled up replica set web to %d","type":"Normal"}`, g.random.Uint64(), g.random.IntN(100))
		g.event("create", "/api/v1/namespaces/default/events",
			`{"resource":"events","namespace":"default","name":"web","apiVersion":"v1"}`, "kube-controller-manager", object, object)
	}
}

func (g *generator) event(verb, uri, ref, pod, request, response string) {
	objects, level := "", "Metadata"
	if request != "" {
		objects, level = `"requestObject":`+request+`,"responseObject":`+response+`,`, "RequestResponse"
	}
	n, err := fmt.Fprintf(g.out, `{"kind":"Event","apiVersion":"audit.k8s.io/v1","level":%q,"auditID":"%016x-0000-4000-8000","stage":"ResponseComplete","requestURI":%q,"verb":%q,"user":{"username":"system:serviceaccount:kube-system:%s","uid":"0b7c8f6e-0000-4000-8000-000000000000","groups":["system:serviceaccounts","system:serviceaccounts:kube-system","system:authenticated"],"extra":{"authentication.kubernetes.io/credential-id":["JTI=00000000-0000-4000-8000-000000000000"],"authentication.kubernetes.io/pod-name":[%[5]q],"authentication.kubernetes.io/pod-uid":["5f0a3d0e-0000-4000-8000-000000000000"]}},"sourceIPs":["192.0.2.1"],"userAgent":"component/v1.37.2 (linux/amd64) kubernetes/0000000/leader-election","objectRef":%s,"responseStatus":{"metadata":{},"code":200},%s"requestReceivedTimestamp":%q,"stageTimestamp":%[8]q,"annotations":{"authorization.k8s.io/decision":"allow","authorization.k8s.io/reason":"RBAC: allowed by ClusterRoleBinding \"system:component\" of ClusterRole \"system:component\" to ServiceAccount \"component/kube-system\""}}`+"\n",
		level, g.random.Uint64(), uri, verb, pod, ref, objects, micro(g.now))
	g.written += int64(n)
	if g.err == nil {
		g.err = err
	}
}

// micro is a time as a MicroTime of the API is written.
func micro(t time.Time) string { return t.UTC().Format("2006-01-02T15:04:05.000000Z") }
