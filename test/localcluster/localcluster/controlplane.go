package localcluster

import (
	"context"
	"fmt"
	"io"
	"maps"
	"os"
	"path/filepath"

	"k8s.io/client-go/rest"
	"sigs.k8s.io/controller-runtime/pkg/envtest"

	"github.com/leasewarden/leasewarden/test/localcluster/binaries"
	"github.com/leasewarden/leasewarden/test/localcluster/process"
)

// controlPlane is etcd and kube-apiserver, which envtest runs: it finds free
// ports and makes the certificates.
func (c *Cluster) startControlPlane(ctx context.Context, etcd, apiServer string) error {
	standIns := filepath.Join(c.dir, "bin")
	certificates := filepath.Join(c.dir, "certificates")
	data := filepath.Join(c.dir, "etcd")
	for _, dir := range []string{standIns, certificates, data} {
		if err := os.MkdirAll(dir, 0o700); err != nil {
			return err
		}
	}
	etcdPath, etcdPID, err := process.StandIn(c.launcher, standIns, Etcd, etcd)
	if err != nil {
		return err
	}
	apiServerPath, apiServerPID, err := process.StandIn(c.launcher, standIns, APIServer, apiServer)
	if err != nil {
		return err
	}
	etcdLog, apiServerLog := logPath(c.dir, Etcd), logPath(c.dir, APIServer)
	etcdOut, err := c.openLog(etcdLog)
	if err != nil {
		return err
	}
	apiServerOut, err := c.openLog(apiServerLog)
	if err != nil {
		return err
	}

	// Directories that envtest makes by itself it also removes when one
	// component stops; these survive a restart.
	plane := &envtest.ControlPlane{
		Etcd:      &envtest.Etcd{Path: etcdPath, DataDir: data, Out: etcdOut, Err: etcdOut},
		APIServer: &envtest.APIServer{Path: apiServerPath, CertDir: certificates, Out: apiServerOut, Err: apiServerOut},
		// Only for a deprecated method; it need not exist.
		KubectlPath: "kubectl",
	}
	for name, values := range c.options.EtcdArgs {
		plane.Etcd.Configure().Set(name, values...)
	}
	if err := c.configureAPIServer(plane.APIServer, certificates); err != nil {
		return err
	}
	c.plane = plane
	c.components = append(c.components,
		envtestComponent(Etcd, binaries.DefaultEtcd, etcdLog, etcdPID, plane.Etcd.Start, plane.Etcd.Stop),
		envtestComponent(APIServer, c.options.KubernetesVersion, apiServerLog, apiServerPID, plane.APIServer.Start, plane.APIServer.Stop),
	)
	for _, component := range c.components {
		if component.name == APIServer {
			plane.APIServer.EtcdURL = plane.Etcd.URL
		}
		if err := component.start(ctx); err != nil {
			return err
		}
	}
	return c.writeKubeconfig()
}

func (c *Cluster) configureAPIServer(server *envtest.APIServer, dir string) error {
	ca, cert, key, err := c.kubelets.writeClient(dir)
	if err != nil {
		return err
	}
	args := server.Configure()
	// envtest turns off service accounts, for lack of a controller manager.
	args.Disable("disable-admission-plugins")
	args.Set("authorization-mode", "RBAC")
	args.Set("service-cluster-ip-range", c.network.services())
	args.Set("kubelet-client-certificate", cert)
	args.Set("kubelet-client-key", key)
	args.Set("kubelet-certificate-authority", ca)
	args.Set("kubelet-preferred-address-types", "InternalIP")
	// The kubernetes Service may not have a loopback address as its endpoint;
	// pods find the API server by their environment.
	args.Set("advertise-address", "127.0.0.1")
	args.Set("endpoint-reconciler-type", "none")
	if c.options.AuditPolicy != "" {
		policy := filepath.Join(dir, "audit-policy.yaml")
		if err := os.WriteFile(policy, []byte(c.options.AuditPolicy), 0o600); err != nil {
			return err
		}
		args.Set("audit-policy-file", policy)
		args.Set("audit-log-path", c.AuditLog())
	}
	if gates := c.options.featureGates(); gates != "" {
		args.Set("feature-gates", gates)
	}
	for name, values := range c.options.APIServerArgs {
		args.Set(name, values...)
	}
	return nil
}

// openLog opens a log that several runs of a process append to.
func (c *Cluster) openLog(path string) (io.Writer, error) {
	file, err := os.OpenFile(path, os.O_CREATE|os.O_WRONLY|os.O_APPEND, 0o644)
	if err != nil {
		return nil, err
	}
	c.logs = append(c.logs, file)
	return file, nil
}

func (c *Cluster) writeKubeconfig() error {
	admin, err := c.plane.AddUser(
		envtest.User{Name: "admin", Groups: []string{"system:masters"}},
		&rest.Config{QPS: 1000, Burst: 2000}, // a test does not want to wait for its own client
	)
	if err != nil {
		return err
	}
	c.config = admin.Config()
	content, err := admin.KubeConfig()
	if err != nil {
		return err
	}
	return os.WriteFile(c.Kubeconfig(), content, 0o600)
}

// startControllers starts kube-controller-manager and kube-scheduler.
func (c *Cluster) startControllers(ctx context.Context, controllerManager, scheduler string) error {
	rootCA := filepath.Join(c.dir, "certificates", "root-ca.crt")
	if err := os.WriteFile(rootCA, c.config.CAData, 0o644); err != nil {
		return err
	}
	common := map[string]string{
		"kubeconfig": c.Kubeconfig(),
		// There is one of each, and it should be at work at once after a restart.
		"leader-elect":   "false",
		"secure-port":    "0",
		"kube-api-qps":   "500",
		"kube-api-burst": "1000",
	}
	if gates := c.options.featureGates(); gates != "" {
		common["feature-gates"] = gates
	}
	managerArgs := maps.Clone(common)
	maps.Copy(managerArgs, map[string]string{
		"service-account-private-key-file": filepath.Join(c.dir, "certificates", "sa-signer.key"),
		"root-ca-file":                     rootCA,
		"use-service-account-credentials":  "true",
	})
	maps.Copy(managerArgs, c.options.ControllerManagerArgs)
	schedulerArgs := maps.Clone(common)
	maps.Copy(schedulerArgs, c.options.SchedulerArgs)

	version := c.options.KubernetesVersion
	for _, component := range []*component{
		processComponent(c.launcher, ControllerManager, version, controllerManager, logPath(c.dir, ControllerManager), managerArgs),
		processComponent(c.launcher, Scheduler, version, scheduler, logPath(c.dir, Scheduler), schedulerArgs),
	} {
		c.components = append(c.components, component)
		if err := component.start(ctx); err != nil {
			return fmt.Errorf("the control plane is incomplete: %w", err)
		}
	}
	return nil
}
