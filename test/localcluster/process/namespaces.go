package process

import (
	"errors"
	"os"
	"os/exec"
	"syscall"
)

// ErrNoNamespaces says that this user cannot run containers here.
var ErrNoNamespaces = errors.New("pods need namespaces, which this user may not create: run as root, " +
	"or allow unprivileged user namespaces (sysctl user.max_user_namespaces and, where they exist, " +
	"kernel.unprivileged_userns_clone and kernel.apparmor_restrict_unprivileged_userns)")

// CheckNamespaces finds out with the launcher at the given path whether
// containers can be started, and whether they need a user namespace (see
// Container.UserNamespace). The error is ErrNoNamespaces if they cannot.
func CheckNamespaces(launcher string) (userNamespace bool, err error) {
	dir, err := os.MkdirTemp("", "leasewarden-check-")
	if err != nil {
		return false, err
	}
	defer os.RemoveAll(dir)
	// Root may have been stripped of the right, in a container for example.
	if os.Geteuid() == 0 && tryNamespaces(launcher, dir, false) == nil {
		return false, nil
	}
	if tryNamespaces(launcher, dir, true) == nil {
		return true, nil
	}
	return false, ErrNoNamespaces
}

func tryNamespaces(launcher, dir string, user bool) error {
	// Must match checkArgument in the launcher.
	cmd := exec.Command(launcher, "leasewarden-container-check", dir)
	cmd.SysProcAttr = &syscall.SysProcAttr{
		Cloneflags: syscall.CLONE_NEWUTS | syscall.CLONE_NEWNS | syscall.CLONE_NEWPID,
	}
	if user {
		cmd.SysProcAttr.Cloneflags |= syscall.CLONE_NEWUSER
		cmd.SysProcAttr.UidMappings = []syscall.SysProcIDMap{{HostID: os.Getuid(), Size: 1}}
		cmd.SysProcAttr.GidMappings = []syscall.SysProcIDMap{{HostID: os.Getgid(), Size: 1}}
	}
	return cmd.Run()
}
