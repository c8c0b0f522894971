package localcluster_test

import (
	"testing"

	"github.com/onsi/gomega"
)

func TestAPIServerReportsItsRelease(t *testing.T) {
	g := gomega.NewWithT(t)
	version, err := client.Discovery().ServerVersion()
	g.Expect(err).NotTo(gomega.HaveOccurred())
	g.Expect(version.GitVersion).To(gomega.Equal("v1.37.2"))
	g.Expect(version.Major).To(gomega.Equal("1"))
	g.Expect(version.Minor).To(gomega.Equal("37"))
	t.Logf("%+v", version)
}
