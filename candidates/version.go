package candidates

import (
	"fmt"
	"strings"

	corev1 "k8s.io/api/core/v1"

	"github.com/leasewarden/leasewarden/api/v1alpha1"
)

// untagged is what an image without a tag stands for. It is no version, and
// the version parser says so.
const untagged = "latest"

// readVersion reads a version as it is written in the Pod. problem says why
// there is nothing to read.
func readVersion(pod *corev1.Pod, source *v1alpha1.VersionSource) (raw, problem string) {
	switch {
	case source.FromLabel != "":
		return lookUp(pod.Labels, "label", source.FromLabel)
	case source.FromAnnotation != "":
		return lookUp(pod.Annotations, "annotation", source.FromAnnotation)
	}
	image, problem := imageOf(pod, source.FromImageTag.Container)
	if problem != "" {
		return "", problem
	}
	return imageTag(image), ""
}

func lookUp(from map[string]string, kind, key string) (value, problem string) {
	if value = from[key]; value == "" {
		return "", "has no " + kind + " " + key + " to read its version from"
	}
	return value, ""
}

// imageOf returns the image of the named container, or of the Pod's only one.
func imageOf(pod *corev1.Pod, container string) (image, problem string) {
	if container == "" {
		if n := len(pod.Spec.Containers); n != 1 {
			return "", fmt.Sprintf("has %d containers, so that the policy must name the one whose image tag is the version", n)
		}
		return pod.Spec.Containers[0].Image, ""
	}
	for _, list := range [][]corev1.Container{pod.Spec.Containers, pod.Spec.InitContainers} {
		for i := range list {
			if list[i].Name == container {
				return list[i].Image, ""
			}
		}
	}
	return "", "has no container " + container + " to read its version from"
}

// imageTag is the tag of an image reference
// [registry[:port]/]path[:tag][@digest]; the digest if that is all there is.
func imageTag(image string) string {
	name, digest, _ := strings.Cut(image, "@")
	last := name[strings.LastIndexByte(name, '/')+1:]
	_, tag, tagged := strings.Cut(last, ":")
	switch {
	case tagged:
		return tag
	case digest != "":
		return digest
	}
	return untagged
}
