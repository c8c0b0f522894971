package kubelet

import (
	"context"
	"fmt"
	"os"
	"path"
	"path/filepath"
	"time"

	authenticationv1 "k8s.io/api/authentication/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/leasewarden/leasewarden/test/localcluster/process"
)

// volumesRefresh is how often the contents of volumes are brought up to date.
// The real kubelet takes about a minute.
const volumesRefresh = 20 * time.Second

// volumes are a pod's volumes as directories on this machine.
type volumes struct {
	worker    *podWorker
	dir       string
	ready     bool
	refreshed time.Time
	tokens    map[string]token // by volume and path
}

// token is a service account token bound to the pod.
type token struct {
	value   string
	renewAt time.Time
}

func newVolumes(w *podWorker) *volumes {
	return &volumes{worker: w, dir: filepath.Join(w.dir, "volumes"), tokens: map[string]token{}}
}

// sync makes all volumes and, later, refreshes them.
func (v *volumes) sync(ctx context.Context) error {
	now := v.worker.kubelet.config.Clock.Now()
	if v.ready && now.Sub(v.refreshed) < volumesRefresh {
		return nil
	}
	v.refreshed = now
	for _, volume := range v.worker.pod.Spec.Volumes {
		if err := v.syncVolume(ctx, volume, now); err != nil {
			if v.ready {
				// The old content is better than a pod that stands still.
				v.worker.kubelet.config.Log.Info("cannot refresh a volume", "pod", v.worker.name.String(), "volume", volume.Name, "error", err)
				continue
			}
			return fmt.Errorf("cannot set up volume %s: %w", volume.Name, err)
		}
	}
	v.ready = true
	return nil
}

func (v *volumes) path(name string) string { return filepath.Join(v.dir, name) }

func (v *volumes) syncVolume(ctx context.Context, volume corev1.Volume, now time.Time) error {
	files := map[string]string{}
	switch source := volume.VolumeSource; {
	case source.EmptyDir != nil:
		if err := os.MkdirAll(v.path(volume.Name), 0o755); err != nil {
			return err
		}
		return os.Chmod(v.path(volume.Name), 0o777) // past the umask
	case source.HostPath != nil:
		return nil // mounted as it is
	case source.ConfigMap != nil:
		values, err := v.worker.configMap(source.ConfigMap.Name, source.ConfigMap.Optional)
		if err != nil {
			return err
		}
		if err := selectItems(files, values, source.ConfigMap.Items, source.ConfigMap.Optional); err != nil {
			return fmt.Errorf("config map %s/%s: %w", v.worker.name.Namespace, source.ConfigMap.Name, err)
		}
	case source.Secret != nil:
		values, err := v.worker.secret(source.Secret.SecretName, source.Secret.Optional)
		if err != nil {
			return err
		}
		if err := selectItems(files, values, source.Secret.Items, source.Secret.Optional); err != nil {
			return fmt.Errorf("secret %s/%s: %w", v.worker.name.Namespace, source.Secret.SecretName, err)
		}
	case source.DownwardAPI != nil:
		if err := v.downward(files, source.DownwardAPI.Items); err != nil {
			return err
		}
	case source.Projected != nil:
		for _, projection := range source.Projected.Sources {
			if err := v.project(ctx, files, volume.Name, projection, now); err != nil {
				return err
			}
		}
	default:
		return fmt.Errorf("a local cluster has no volumes of this kind: use emptyDir, hostPath, configMap, secret, downwardAPI or projected")
	}
	return writeAtomically(v.path(volume.Name), files)
}

func (v *volumes) project(ctx context.Context, files map[string]string, volume string, p corev1.VolumeProjection, now time.Time) error {
	switch {
	case p.ServiceAccountToken != nil:
		value, err := v.token(ctx, volume, p.ServiceAccountToken, now)
		if err != nil {
			return err
		}
		files[p.ServiceAccountToken.Path] = value
		return nil
	case p.ConfigMap != nil:
		values, err := v.worker.configMap(p.ConfigMap.Name, p.ConfigMap.Optional)
		if err != nil {
			return err
		}
		return selectItems(files, values, p.ConfigMap.Items, p.ConfigMap.Optional)
	case p.Secret != nil:
		values, err := v.worker.secret(p.Secret.Name, p.Secret.Optional)
		if err != nil {
			return err
		}
		return selectItems(files, values, p.Secret.Items, p.Secret.Optional)
	case p.DownwardAPI != nil:
		return v.downward(files, p.DownwardAPI.Items)
	}
	return fmt.Errorf("a local cluster does not support this kind of projection")
}

func (v *volumes) downward(files map[string]string, items []corev1.DownwardAPIVolumeFile) error {
	for _, item := range items {
		if item.FieldRef == nil {
			return fmt.Errorf("a local cluster supports only fields in a downward API volume, not resources")
		}
		value, err := v.worker.field(item.FieldRef.FieldPath)
		if err != nil {
			return err
		}
		files[item.Path] = value
	}
	return nil
}

// token requests a token that is bound to the pod, or returns the one from
// before while less than 80 % of its life has passed, as the kubelet does.
func (v *volumes) token(ctx context.Context, volume string, p *corev1.ServiceAccountTokenProjection, now time.Time) (string, error) {
	key := volume + "/" + p.Path
	if t := v.tokens[key]; t.value != "" && now.Before(t.renewAt) {
		return t.value, nil
	}
	ctx, cancel := context.WithTimeout(ctx, 5*time.Second)
	defer cancel()
	w := v.worker
	request := &authenticationv1.TokenRequest{Spec: authenticationv1.TokenRequestSpec{
		ExpirationSeconds: p.ExpirationSeconds,
		BoundObjectRef: &authenticationv1.BoundObjectReference{
			APIVersion: "v1", Kind: "Pod", Name: w.name.Name, UID: w.uid,
		},
	}}
	if p.Audience != "" {
		request.Spec.Audiences = []string{p.Audience}
	}
	account := w.pod.Spec.ServiceAccountName
	response, err := w.kubelet.client.CoreV1().ServiceAccounts(w.name.Namespace).CreateToken(ctx, account, request, metav1.CreateOptions{})
	if err != nil {
		return "", fmt.Errorf("cannot get a token of service account %s/%s: %w", w.name.Namespace, account, err)
	}
	life := response.Status.ExpirationTimestamp.Sub(now)
	v.tokens[key] = token{value: response.Status.Token, renewAt: now.Add(life * 8 / 10)}
	return response.Status.Token, nil
}

// selectItems copies the values into files, by their keys or as the items say.
func selectItems(files, values map[string]string, items []corev1.KeyToPath, optional *bool) error {
	if len(items) == 0 {
		for key, value := range values {
			files[key] = value
		}
		return nil
	}
	for _, item := range items {
		value, ok := values[item.Key]
		if !ok {
			if optional != nil && *optional {
				continue
			}
			return fmt.Errorf("there is no key %q", item.Key)
		}
		files[item.Path] = value
	}
	return nil
}

// mounts are everything that the container sees.
func (w *podWorker) mounts(c corev1.Container, program string) ([]process.Mount, error) {
	mounts := process.BaseSystem()
	mounts = append(mounts, process.Mount{
		Source: program, Target: path.Join(imageDir, filepath.Base(program)), ReadOnly: true,
	})
	hosts := filepath.Join(w.dir, "hosts")
	content := fmt.Sprintf("127.0.0.1\tlocalhost\n%s\t%s\n", w.ip, w.hostname())
	if err := os.WriteFile(hosts, []byte(content), 0o644); err != nil {
		return nil, err
	}
	mounts = append(mounts, process.Mount{Source: hosts, Target: "/etc/hosts", ReadOnly: true})
	for _, m := range c.VolumeMounts {
		source := w.volumes.path(m.Name)
		for _, volume := range w.pod.Spec.Volumes {
			if volume.Name == m.Name && volume.HostPath != nil {
				source = volume.HostPath.Path
			}
		}
		mounts = append(mounts, process.Mount{
			Source:   filepath.Join(source, m.SubPath),
			Target:   path.Clean(m.MountPath),
			ReadOnly: m.ReadOnly,
		})
	}
	return mounts, nil
}

func (v *volumes) remove() { _ = os.RemoveAll(v.worker.dir) }
