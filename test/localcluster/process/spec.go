package process

// Spec says what to start.
type Spec struct {
	// Name of the process in errors.
	Name string
	// Path of the program. In a container it is a path in the container's root,
	// or a name to look up in the environment's PATH.
	Path string
	// Args of the program, without its name.
	Args []string
	// Env is the program's environment, KEY=value. Nil means that of the
	// calling process, but for a container, which then has none.
	Env []string
	// Dir is the working directory. Empty means the caller's, or the root in a
	// container, which is otherwise made if missing.
	Dir string
	// Log is the file that standard output and standard error are appended to.
	// Empty discards both.
	Log string
	// Container puts the program in namespaces of its own. Nil runs it on the host.
	Container *Container
}

// Container is the surroundings of a program that does not run on the host
// itself. It shares the host's network.
type Container struct {
	// Hostname that the program sees.
	Hostname string
	// Root is an empty directory. The container's root file system (a tmpfs) is
	// mounted on it, where only the container sees it.
	Root string
	// Mounts are made in this order. Nothing else of the host is visible.
	Mounts []Mount
	// UserNamespace is needed where the caller is not root. The program is then
	// root in the container and the caller outside.
	UserNamespace bool
}

// Mount makes a file or directory of the host visible in a container.
type Mount struct {
	// Source is the path on the host.
	Source string `json:"source"`
	// Target is the absolute path in the container. Missing directories are made.
	Target string `json:"target"`
	// ReadOnly forbids writing.
	ReadOnly bool `json:"readOnly"`
	// Optional skips the mount if the host has no such source, and keeps a
	// symbolic link a symbolic link.
	Optional bool `json:"optional"`
}

// BaseSystem mounts the parts of the host's system that a dynamically linked
// program or a shell needs: libraries, programs, time zones, certificates.
func BaseSystem() []Mount {
	var mounts []Mount
	for _, dir := range []string{
		"/usr", "/bin", "/sbin", "/lib", "/lib64",
		"/etc/alternatives", "/etc/ld.so.cache", "/etc/localtime", "/etc/nsswitch.conf", "/etc/passwd", "/etc/group",
		"/etc/pki", "/etc/resolv.conf", "/etc/ssl", "/etc/ca-certificates",
	} {
		mounts = append(mounts, Mount{Source: dir, Target: dir, ReadOnly: true, Optional: true})
	}
	for _, device := range []string{"/dev/null", "/dev/zero", "/dev/full", "/dev/random", "/dev/urandom", "/dev/tty"} {
		mounts = append(mounts, Mount{Source: device, Target: device, Optional: true})
	}
	return append(mounts, Mount{Source: "/sys", Target: "/sys", ReadOnly: true, Optional: true})
}

// wireSpec is the spec as the launcher reads it.
type wireSpec struct {
	Path      string         `json:"path"`
	Args      []string       `json:"args,omitempty"`
	Env       []string       `json:"env,omitempty"`
	Dir       string         `json:"dir,omitempty"`
	ParentPID int            `json:"parentPID"`
	PIDFile   string         `json:"pidFile,omitempty"`
	Container *wireContainer `json:"container,omitempty"`
}

type wireContainer struct {
	Hostname      string  `json:"hostname"`
	Root          string  `json:"root"`
	Mounts        []Mount `json:"mounts"`
	UserNamespace bool    `json:"userNamespace"`
}

func (s Spec) wire(parent int) wireSpec {
	w := wireSpec{Path: s.Path, Args: s.Args, Env: s.Env, Dir: s.Dir, ParentPID: parent}
	if c := s.Container; c != nil {
		w.Container = &wireContainer{Hostname: c.Hostname, Root: c.Root, Mounts: c.Mounts, UserNamespace: c.UserNamespace}
	}
	return w
}
