package manifests

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/moby/buildkit/frontend/dockerfile/instructions"
	"github.com/moby/buildkit/frontend/dockerfile/linter"
	"github.com/moby/buildkit/frontend/dockerfile/parser"
	"github.com/moby/patternmatcher"
	"github.com/moby/patternmatcher/ignorefile"
	. "github.com/onsi/gomega"
	"golang.org/x/mod/modfile"
	appsv1 "k8s.io/api/apps/v1"
)

const root = "../../"

// The image runs as the user that the Pods run as, and has what they start.
func TestImageFitsThePods(t *testing.T) {
	g := NewWithT(t)
	stages := dockerfile(t)
	g.Expect(stages).To(HaveLen(2))
	pod := get[*appsv1.Deployment](t, kustomize(t, "default")).Spec.Template.Spec
	last := map[string]string{}
	for _, command := range stages[1].Commands {
		last[command.Name()] = fmt.Sprint(command)
		switch c := command.(type) {
		case *instructions.UserCommand:
			g.Expect(c.User).To(Equal(fmt.Sprintf("%d:%d", *pod.SecurityContext.RunAsUser, *pod.SecurityContext.RunAsGroup)))
		case *instructions.EntrypointCommand:
			g.Expect([]string(c.CmdLine)).To(Equal(pod.Containers[0].Command))
		case *instructions.EnvCommand:
			g.Expect(c.Env[0].Key).To(Equal("PATH"))
			g.Expect(last).NotTo(HaveKey("COPY"))
		case *instructions.CopyCommand:
			g.Expect(last["ENV"]).To(HaveSuffix("PATH=" + filepath.Dir(c.DestPath)))
			g.Expect([]string{filepath.Base(c.DestPath)}).To(Equal(pod.Containers[0].Command))
		}
	}
	g.Expect(last).To(And(HaveKey("USER"), HaveKey("ENTRYPOINT"), HaveKey("ENV"), HaveKey("COPY")))
}

func TestImageIsBuiltWithTheModulesGo(t *testing.T) {
	g := NewWithT(t)
	content, err := os.ReadFile(root + "go.mod")
	g.Expect(err).NotTo(HaveOccurred())
	module, err := modfile.ParseLax("go.mod", content, nil)
	g.Expect(err).NotTo(HaveOccurred())
	g.Expect(module.Go.Version).To(HavePrefix(strings.TrimPrefix(dockerfile(t)[0].BaseName, "golang:")))
}

// What the binary is built from is not left out of the image's build.
func TestImageIsBuiltFromAllThereIs(t *testing.T) {
	g := NewWithT(t)
	ignored, err := os.Open(root + ".dockerignore")
	g.Expect(err).NotTo(HaveOccurred())
	defer ignored.Close()
	patterns, err := ignorefile.ReadAll(ignored)
	g.Expect(err).NotTo(HaveOccurred())
	matcher, err := patternmatcher.New(patterns)
	g.Expect(err).NotTo(HaveOccurred())

	list := exec.CommandContext(t.Context(), "go", "list", "-deps", "-f",
		`{{if not .Standard}}{{$p := .}}{{if eq .Module.Path "github.com/leasewarden/leasewarden"}}{{range .GoFiles}}{{$p.Dir}}/{{.}}{{"\n"}}{{end}}{{range .EmbedFiles}}{{$p.Dir}}/{{.}}{{"\n"}}{{end}}{{end}}{{end}}`,
		"./cmd/leasewarden")
	list.Dir = root
	out, err := list.Output()
	g.Expect(err).NotTo(HaveOccurred())
	files := strings.Fields(string(out))
	g.Expect(len(files)).To(BeNumerically(">", 50))
	base, err := filepath.Abs(root)
	g.Expect(err).NotTo(HaveOccurred())
	for _, file := range append(files, base+"/go.mod", base+"/go.sum") {
		path, err := filepath.Rel(base, file)
		g.Expect(err).NotTo(HaveOccurred())
		g.Expect(matcher.MatchesOrParentMatches(path)).To(BeFalse(), path)
	}
	g.Expect(matcher.MatchesOrParentMatches("test/manifests/image_test.go")).To(BeTrue())
}

// dockerfile are the stages of the Dockerfile, which its linter has nothing to
// say of.
func dockerfile(t *testing.T) []instructions.Stage {
	t.Helper()
	file, err := os.Open(root + "Dockerfile")
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	parsed, err := parser.Parse(file)
	if err != nil {
		t.Fatal(err)
	}
	warn := func(rule, _, _, message string, _ []parser.Range) { t.Errorf("%s: %s", rule, message) }
	stages, _, err := instructions.Parse(parsed.AST, linter.New(&linter.Config{Warn: warn}))
	if err != nil {
		t.Fatal(err)
	}
	return stages
}
