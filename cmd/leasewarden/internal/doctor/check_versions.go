package doctor

import (
	"maps"
	"slices"
	"strings"

	"github.com/leasewarden/leasewarden/picker"
)

// checkVersions compares the images of the replicas with each other and with
// this program.
func checkVersions(s *snapshot) []Finding {
	if s.pods.err != nil {
		return unread("Pods", s.pods.err)
	}
	images := map[string]bool{}
	for i := range s.pods.value.Items {
		p := &s.pods.value.Items[i]
		for j := range p.Spec.Containers {
			if c := &p.Spec.Containers[j]; c.Name == "leasewarden" || len(p.Spec.Containers) == 1 {
				images[c.Image] = true
			}
		}
	}
	all := slices.Sorted(maps.Keys(images))
	switch {
	case len(all) == 0:
		return []Finding{unknown("see the check replicas", "no Pod of Leasewarden is there to compare with")}
	case len(all) > 1:
		return []Finding{warning("wait for the rollout to end; replicas of two releases may rule differently", "replicas run different images: %s", strings.Join(all, ", "))}
	}
	return s.compareVersion(all[0])
}

func (s *snapshot) compareVersion(image string) []Finding {
	theirs, ours := picker.ParseVersion(imageTag(image)), picker.ParseVersion(s.version)
	switch {
	case theirs.Problem() != "" || ours.Problem() != "":
		return []Finding{unknown("compare them by hand", "the replicas run %s, this is leasewarden %s: not both are versions", image, s.version)}
	case theirs.Compare(ours) != 0:
		return []Finding{warning("use the leasewarden of the release that runs", "the replicas run %s, this is leasewarden %s", image, s.version)}
	}
	return ok("the replicas run %s, as this does", image)
}

// imageTag is "" for an image without one.
func imageTag(image string) string {
	image, _, _ = strings.Cut(image, "@")
	if i := strings.LastIndex(image, ":"); i > strings.LastIndex(image, "/") {
		return image[i+1:]
	}
	return ""
}
