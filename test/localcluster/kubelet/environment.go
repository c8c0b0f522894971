package kubelet

import (
	"context"
	"fmt"
	"path"
	"path/filepath"
	"sort"
	"strings"
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// imageDir is where a container finds its image's program.
const imageDir = "/image"

// environment is a container's environment in the order of definition.
type environment struct {
	names  []string
	values map[string]string
}

func (e *environment) set(name, value string) {
	if _, ok := e.values[name]; !ok {
		e.names = append(e.names, name)
	}
	e.values[name] = value
}

func (e *environment) get(name string) (string, bool) {
	v, ok := e.values[name]
	return v, ok
}

func (e *environment) list() []string {
	list := make([]string, 0, len(e.names))
	for _, name := range e.names {
		list = append(list, name+"="+e.values[name])
	}
	return list
}

// environment resolves the container's environment. An error names what is missing.
func (w *podWorker) environment(c corev1.Container) (*environment, error) {
	e := &environment{values: map[string]string{}}
	e.set("PATH", imageDir+":/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin")
	e.set("HOME", "/")
	e.set("HOSTNAME", w.hostname())
	e.set("KUBERNETES_SERVICE_HOST", w.kubelet.config.APIServerHost)
	e.set("KUBERNETES_SERVICE_PORT", w.kubelet.config.APIServerPort)
	e.set("KUBERNETES_SERVICE_PORT_HTTPS", w.kubelet.config.APIServerPort)
	for _, from := range c.EnvFrom {
		values, err := w.envFrom(from)
		if err != nil {
			return nil, err
		}
		names := make([]string, 0, len(values))
		for name := range values {
			names = append(names, name)
		}
		sort.Strings(names)
		for _, name := range names {
			e.set(from.Prefix+name, values[name])
		}
	}
	for _, v := range c.Env {
		if v.ValueFrom == nil {
			e.set(v.Name, expand(v.Value, e.get))
			continue
		}
		value, ok, err := w.valueFrom(c, v.ValueFrom)
		if err != nil {
			return nil, fmt.Errorf("environment variable %s: %w", v.Name, err)
		}
		if ok {
			e.set(v.Name, value)
		}
	}
	return e, nil
}

func (w *podWorker) envFrom(from corev1.EnvFromSource) (map[string]string, error) {
	switch {
	case from.ConfigMapRef != nil:
		return w.configMap(from.ConfigMapRef.Name, from.ConfigMapRef.Optional)
	case from.SecretRef != nil:
		return w.secret(from.SecretRef.Name, from.SecretRef.Optional)
	}
	return nil, nil
}

func (w *podWorker) valueFrom(c corev1.Container, from *corev1.EnvVarSource) (value string, ok bool, err error) {
	var values map[string]string
	var key string
	var optional *bool
	switch {
	case from.FieldRef != nil:
		value, err = w.field(from.FieldRef.FieldPath)
		return value, true, err
	case from.ResourceFieldRef != nil:
		value, err = w.resourceField(c, from.ResourceFieldRef)
		return value, true, err
	case from.ConfigMapKeyRef != nil:
		key, optional = from.ConfigMapKeyRef.Key, from.ConfigMapKeyRef.Optional
		values, err = w.configMap(from.ConfigMapKeyRef.Name, optional)
	case from.SecretKeyRef != nil:
		key, optional = from.SecretKeyRef.Key, from.SecretKeyRef.Optional
		values, err = w.secret(from.SecretKeyRef.Name, optional)
	default:
		return "", false, fmt.Errorf("this kind of source is not supported on a local cluster")
	}
	if err != nil {
		return "", false, err
	}
	value, ok = values[key]
	if !ok && (optional == nil || !*optional) {
		return "", false, fmt.Errorf("there is no key %q", key)
	}
	return value, ok, nil
}

// field resolves a field of the downward API.
func (w *podWorker) field(fieldPath string) (string, error) {
	pod := w.pod
	if name, ok := strings.CutPrefix(fieldPath, "metadata.labels['"); ok {
		return pod.Labels[strings.TrimSuffix(name, "']")], nil
	}
	if name, ok := strings.CutPrefix(fieldPath, "metadata.annotations['"); ok {
		return pod.Annotations[strings.TrimSuffix(name, "']")], nil
	}
	switch fieldPath {
	case "metadata.name":
		return pod.Name, nil
	case "metadata.namespace":
		return pod.Namespace, nil
	case "metadata.uid":
		return string(pod.UID), nil
	case "metadata.labels":
		return keyValues(pod.Labels), nil
	case "metadata.annotations":
		return keyValues(pod.Annotations), nil
	case "spec.nodeName":
		return w.kubelet.config.NodeName, nil
	case "spec.serviceAccountName":
		return pod.Spec.ServiceAccountName, nil
	case "status.hostIP", "status.hostIPs":
		return w.kubelet.config.IP, nil
	case "status.podIP", "status.podIPs":
		return w.ip, nil
	}
	return "", fmt.Errorf("there is no field %q", fieldPath)
}

func keyValues(m map[string]string) string {
	lines := make([]string, 0, len(m))
	for k, v := range m {
		lines = append(lines, fmt.Sprintf("%s=%q\n", k, v))
	}
	sort.Strings(lines)
	return strings.Join(lines, "")
}

// resourceField resolves a container's limit or request; without one, what the node has.
func (w *podWorker) resourceField(c corev1.Container, ref *corev1.ResourceFieldSelector) (string, error) {
	kind, name, _ := strings.Cut(ref.Resource, ".")
	list := c.Resources.Limits
	if kind == "requests" {
		list = c.Resources.Requests
	}
	quantity, ok := list[corev1.ResourceName(name)]
	if !ok && kind == "limits" {
		quantity = nodeObject(w.kubelet.config, 0).Status.Allocatable[corev1.ResourceName(name)]
	}
	divisor := ref.Divisor
	if divisor.IsZero() {
		divisor = resource.MustParse("1")
	}
	if name == string(corev1.ResourceCPU) {
		return fmt.Sprint((quantity.MilliValue() + divisor.MilliValue() - 1) / divisor.MilliValue()), nil
	}
	return fmt.Sprint((quantity.Value() + divisor.Value() - 1) / divisor.Value()), nil
}

func (w *podWorker) configMap(name string, optional *bool) (map[string]string, error) {
	ctx, cancel := context.WithTimeout(w.ctx, 5*time.Second)
	defer cancel()
	object, err := w.kubelet.client.CoreV1().ConfigMaps(w.name.Namespace).Get(ctx, name, metav1.GetOptions{})
	if apierrors.IsNotFound(err) && optional != nil && *optional {
		return nil, nil
	}
	if err != nil {
		return nil, fmt.Errorf("cannot read config map %s/%s: %w", w.name.Namespace, name, err)
	}
	values := map[string]string{}
	for k, v := range object.BinaryData {
		values[k] = string(v)
	}
	for k, v := range object.Data {
		values[k] = v
	}
	return values, nil
}

func (w *podWorker) secret(name string, optional *bool) (map[string]string, error) {
	ctx, cancel := context.WithTimeout(w.ctx, 5*time.Second)
	defer cancel()
	object, err := w.kubelet.client.CoreV1().Secrets(w.name.Namespace).Get(ctx, name, metav1.GetOptions{})
	if apierrors.IsNotFound(err) && optional != nil && *optional {
		return nil, nil
	}
	if err != nil {
		return nil, fmt.Errorf("cannot read secret %s/%s: %w", w.name.Namespace, name, err)
	}
	values := map[string]string{}
	for k, v := range object.Data {
		values[k] = string(v)
	}
	return values, nil
}

// command returns what to run: the image's program, unless the container's
// command names another one. A command with the program's base name, wherever
// the real image may have it, means the program.
func command(c corev1.Container, program string, e *environment) (name string, args []string) {
	for _, arg := range c.Args {
		args = append(args, expand(arg, e.get))
	}
	inside := path.Join(imageDir, filepath.Base(program))
	if len(c.Command) == 0 {
		return inside, args
	}
	var words []string
	for _, word := range c.Command {
		words = append(words, expand(word, e.get))
	}
	if path.Base(words[0]) == filepath.Base(program) {
		words[0] = inside
	}
	return words[0], append(words[1:], args...)
}
