package main

import (
	"fmt"
	"slices"
	"strings"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/leasewarden/leasewarden/api/v1alpha1"
	"github.com/leasewarden/leasewarden/test/localcluster/elector"
	"github.com/leasewarden/leasewarden/test/localcluster/soak/belief"
)

const (
	namespace  = "soak"
	container  = "elector"
	oldVersion = "1.36.3"
	newVersion = "1.37.2"
)

// The electors' images.
const (
	electorImage = "elector"
	managerImage = "manager"
)

// contest is a Lease, who competes for it, and by which policy one is chosen. Its
// name is that of the Lease, the policy, the label app and the service account.
type contest struct {
	name  string
	what  string
	times elector.Timings
	sets  []set
	spec  v1alpha1.ElectionPolicySpec
	// run is the container of that version.
	run func(c *contest, version string) corev1.Container
	// records: the electors write records of when they lead.
	records bool
}

// set is a Deployment of electors of one version.
type set struct {
	version  string
	replicas int32
}

var (
	// usual are client-go's defaults, which are those of Kubernetes' components.
	usual = elector.Timings{LeaseDuration: 15 * time.Second, RenewDeadline: 10 * time.Second, RetryPeriod: 2 * time.Second}
	quick = elector.Timings{LeaseDuration: 8 * time.Second, RenewDeadline: 6 * time.Second, RetryPeriod: time.Second}
)

var contests = []*contest{
	{
		name: "scheduler", what: "kube-scheduler", times: quick,
		sets: []set{{oldVersion, 2}, {newVersion, 1}}, run: runScheduler,
		spec: prefer(v1alpha1.OldestEmulationVersion, v1alpha1.PreemptForBetter),
	},
	{
		name: "controllers", what: "kube-controller-manager", times: usual,
		sets: []set{{newVersion, 2}}, run: runControllers,
		spec: prefer(v1alpha1.Sticky, v1alpha1.PreemptNever),
	},
	{
		name: "manager", what: "controller-runtime", times: usual,
		sets: []set{{newVersion, 3}}, run: runManager, records: true,
		spec: prefer(v1alpha1.RolloutAware, v1alpha1.PreemptAfterRollout),
	},
	{
		name: "releases", what: "client-go, ReleaseOnCancel", times: quick,
		sets: []set{{oldVersion, 1}, {newVersion, 2}}, run: runElector("-release=true"), records: true,
		spec: prefer(v1alpha1.NewestVersion, v1alpha1.PreemptForBetter),
	},
	{
		name: "keeps", what: "client-go, no release", times: quick,
		sets: []set{{newVersion, 3}}, run: runElector("-release=false"), records: true,
		spec: prefer(v1alpha1.FirstCome, v1alpha1.PreemptNever),
	},
}

// prefer is a policy with that strategy. A holder makes way soon, so that the soak
// need not wait for it.
func prefer(strategy v1alpha1.StrategyName, when v1alpha1.PreemptWhen) v1alpha1.ElectionPolicySpec {
	return v1alpha1.ElectionPolicySpec{
		Strategy: v1alpha1.Strategy{Name: strategy},
		Preemption: v1alpha1.Preemption{
			When: when, MinTerm: &metav1.Duration{Duration: 2 * time.Second}, Cooldown: &metav1.Duration{Duration: 2 * time.Second},
		},
	}
}

func (c *contest) meta() metav1.ObjectMeta {
	return metav1.ObjectMeta{Namespace: namespace, Name: c.name}
}

func (c *contest) labels() map[string]string { return map[string]string{"app": c.name} }

// deployment is the name of a set's Deployment.
func (c *contest) deployment(s set) string {
	return c.name + "-" + strings.ReplaceAll(s.version, ".", "-")
}

func (c *contest) replicas() int {
	n := int32(0)
	for _, s := range c.sets {
		n += s.replicas
	}
	return int(n)
}

// reader reads the logs of the contest's electors.
func (c *contest) reader(year int) *belief.Reader {
	return &belief.Reader{Lock: namespace + "/" + c.name, Records: c.records, Year: year}
}

// contestOf is the contest of a Pod.
func contestOf(pod string) *contest {
	i := slices.IndexFunc(contests, func(c *contest) bool { return strings.HasPrefix(pod, c.name+"-") })
	if i < 0 {
		return nil
	}
	return contests[i]
}

// sayRenewals has a component of Kubernetes log that it renews its Lease.
const sayRenewals = "--vmodule=leaderelection=5"

func runScheduler(_ *contest, version string) corev1.Container {
	return corev1.Container{
		Image:        "kube-scheduler:v" + version,
		Command:      []string{"kube-scheduler", "--config=/etc/scheduler/config.yaml", "--secure-port=0", sayRenewals},
		VolumeMounts: []corev1.VolumeMount{{Name: "config", MountPath: "/etc/scheduler"}},
	}
}

// schedulerConfig is what runScheduler reads.
func schedulerConfig(c *contest) string {
	return fmt.Sprintf(`apiVersion: kubescheduler.config.k8s.io/v1
kind: KubeSchedulerConfiguration
leaderElection: {leaderElect: true, resourceNamespace: %s, resourceName: %s, leaseDuration: %s, renewDeadline: %s, retryPeriod: %s}
profiles: [{schedulerName: %[2]s}]
`, namespace, c.name, c.times.LeaseDuration, c.times.RenewDeadline, c.times.RetryPeriod)
}

func runControllers(c *contest, version string) corev1.Container {
	return corev1.Container{
		Image: "kube-controller-manager:v" + version,
		Command: []string{
			"kube-controller-manager", "--secure-port=0", "--controllers=ttl-after-finished-controller", sayRenewals,
			"--leader-elect-resource-namespace=" + namespace, "--leader-elect-resource-name=" + c.name,
			"--leader-elect-lease-duration=" + c.times.LeaseDuration.String(),
			"--leader-elect-renew-deadline=" + c.times.RenewDeadline.String(),
			"--leader-elect-retry-period=" + c.times.RetryPeriod.String(),
		},
	}
}

func runManager(c *contest, version string) corev1.Container {
	return corev1.Container{Image: managerImage + ":v" + version, Args: []string{
		"-vmodule=leaderelection=5", "-namespace=" + namespace, "-lease=" + c.name,
		"-lease-duration=" + c.times.LeaseDuration.String(),
		"-renew-deadline=" + c.times.RenewDeadline.String(),
		"-retry-period=" + c.times.RetryPeriod.String(),
	}}
}

func runElector(release string) func(*contest, string) corev1.Container {
	return func(c *contest, version string) corev1.Container {
		return corev1.Container{Image: electorImage + ":v" + version, Args: []string{
			"elect", "-once", release, c.name,
			c.times.LeaseDuration.String(), c.times.RenewDeadline.String(), c.times.RetryPeriod.String(),
		}}
	}
}
