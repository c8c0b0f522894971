//go:build linux

package main

import (
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
)

// isolate asks for the container's namespaces.
func isolate(attr *syscall.SysProcAttr, c *container) {
	attr.Cloneflags = syscall.CLONE_NEWUTS | syscall.CLONE_NEWNS | syscall.CLONE_NEWPID
	if c.UserNamespace {
		// Root inside, the user outside: mounting and naming the host are
		// allowed in there, and nothing that the user may not do anyway.
		attr.Cloneflags |= syscall.CLONE_NEWUSER
		attr.UidMappings = []syscall.SysProcIDMap{{ContainerID: 0, HostID: os.Getuid(), Size: 1}}
		attr.GidMappings = []syscall.SysProcIDMap{{ContainerID: 0, HostID: os.Getgid(), Size: 1}}
	}
}

// containerInit is the second stage: PID 1 of the container. It returns only
// with an error; otherwise it has become the program.
func containerInit() error {
	syscall.CloseOnExec(specFD)
	syscall.CloseOnExec(eventsFD)
	raw, err := io.ReadAll(os.NewFile(specFD, "spec"))
	if err != nil {
		return err
	}
	s, err := parseSpec(raw)
	if err != nil {
		return err
	}
	c := s.Container
	if err := syscall.Sethostname([]byte(c.Hostname)); err != nil {
		return fmt.Errorf("cannot set the hostname %s: %w", c.Hostname, err)
	}
	if err := enterRoot(c); err != nil {
		return err
	}
	if s.Dir != "" {
		if err := os.MkdirAll(s.Dir, 0o755); err != nil {
			return fmt.Errorf("cannot make the working directory: %w", err)
		}
		if err := os.Chdir(s.Dir); err != nil {
			return fmt.Errorf("cannot enter the working directory: %w", err)
		}
	}
	path, err := lookPath(s.Path, s.Env)
	if err != nil {
		return err
	}
	// Cleared by a change of credentials, so once more in the final process.
	const prSetPdeathsig = 1
	if _, _, errno := syscall.RawSyscall(syscall.SYS_PRCTL, prSetPdeathsig, uintptr(syscall.SIGKILL), 0); errno != 0 {
		return fmt.Errorf("cannot bind the container's life to the launcher's: %w", errno)
	}
	if err := syscall.Exec(path, append([]string{s.Path}, s.Args...), s.Env); err != nil {
		return fmt.Errorf("cannot run %s: %w", s.Path, err)
	}
	return nil
}

// checkNamespaces tries the privileged calls of a container's start.
func checkNamespaces(dir string) error {
	if err := syscall.Sethostname([]byte("check")); err != nil {
		return err
	}
	if err := syscall.Mount("", "/", "", syscall.MS_REC|syscall.MS_PRIVATE, ""); err != nil {
		return err
	}
	return syscall.Mount("tmpfs", dir, "tmpfs", 0, "")
}

// enterRoot builds the container's root directory from its mounts and makes it
// the root. The root is a tmpfs, so that mount points can be made anywhere
// without a trace on the host.
func enterRoot(c *container) error {
	// Nothing mounted here may show on the host.
	if err := syscall.Mount("", "/", "", syscall.MS_REC|syscall.MS_PRIVATE, ""); err != nil {
		return fmt.Errorf("cannot make the mounts private: %w", err)
	}
	if err := syscall.Mount("tmpfs", c.Root, "tmpfs", 0, "mode=0755"); err != nil {
		return fmt.Errorf("cannot mount the container's root: %w", err)
	}
	for _, m := range c.Mounts {
		if err := bind(c.Root, m); err != nil {
			return err
		}
	}
	proc := filepath.Join(c.Root, "proc")
	if err := os.MkdirAll(proc, 0o555); err != nil {
		return err
	}
	if err := syscall.Mount("proc", proc, "proc", syscall.MS_NOSUID|syscall.MS_NODEV|syscall.MS_NOEXEC, ""); err != nil {
		// Where parts of the host's /proc are masked (we are in a container
		// ourselves), the kernel refuses a new one to an unprivileged user.
		// Few programs need it.
		if !errors.Is(err, syscall.EPERM) {
			return fmt.Errorf("cannot mount /proc: %w", err)
		}
	}
	tmp := filepath.Join(c.Root, "tmp")
	if err := os.MkdirAll(tmp, 0o777); err != nil {
		return err
	}
	if err := os.Chmod(tmp, os.ModeSticky|0o777); err != nil {
		return err
	}
	old := filepath.Join(c.Root, ".old-root")
	if err := os.Mkdir(old, 0o700); err != nil {
		return err
	}
	if err := syscall.PivotRoot(c.Root, old); err != nil {
		return fmt.Errorf("cannot change the root: %w", err)
	}
	if err := os.Chdir("/"); err != nil {
		return err
	}
	if err := syscall.Unmount("/.old-root", syscall.MNT_DETACH); err != nil {
		return fmt.Errorf("cannot leave the host's root: %w", err)
	}
	return os.Remove("/.old-root")
}

// bind mounts one file or directory of the host into the root.
func bind(root string, m mount) error {
	info, err := os.Lstat(m.Source)
	if err != nil {
		if m.Optional {
			return nil
		}
		return fmt.Errorf("cannot mount on %s: %w", m.Target, err)
	}
	target := filepath.Join(root, m.Target)
	if err := os.MkdirAll(filepath.Dir(target), 0o755); err != nil {
		return fmt.Errorf("cannot make the mount point %s: %w", m.Target, err)
	}
	if info.Mode()&os.ModeSymlink != 0 && m.Optional {
		// The base system's links (/bin to usr/bin) stay links.
		to, err := os.Readlink(m.Source)
		if err != nil {
			return err
		}
		return os.Symlink(to, target)
	}
	info, err = os.Stat(m.Source)
	if err != nil {
		return fmt.Errorf("cannot mount on %s: %w", m.Target, err)
	}
	if info.IsDir() {
		err = os.MkdirAll(target, 0o755)
	} else if _, missing := os.Lstat(target); missing != nil {
		err = os.WriteFile(target, nil, 0o644)
	}
	if err != nil {
		return fmt.Errorf("cannot make the mount point %s: %w", m.Target, err)
	}
	if err := syscall.Mount(m.Source, target, "", syscall.MS_BIND|syscall.MS_REC, ""); err != nil {
		return fmt.Errorf("cannot mount on %s: %w", m.Target, err)
	}
	if !m.ReadOnly {
		return nil
	}
	// A remount must keep the flags that are locked in a user namespace.
	var fs syscall.Statfs_t
	if err := syscall.Statfs(target, &fs); err != nil {
		return err
	}
	const keep = syscall.MS_NOSUID | syscall.MS_NODEV | syscall.MS_NOEXEC | syscall.MS_NOATIME | syscall.MS_NODIRATIME
	flags := uintptr(fs.Flags)&keep | syscall.MS_BIND | syscall.MS_REMOUNT | syscall.MS_RDONLY
	if err := syscall.Mount("", target, "", flags, ""); err != nil {
		return fmt.Errorf("cannot make %s read-only: %w", m.Target, err)
	}
	return nil
}

// lookPath finds a program by the container's PATH.
func lookPath(name string, env []string) (string, error) {
	if strings.Contains(name, "/") {
		return name, nil
	}
	for _, e := range env {
		dirs, ok := strings.CutPrefix(e, "PATH=")
		if !ok {
			continue
		}
		for _, dir := range filepath.SplitList(dirs) {
			path := filepath.Join(dir, name)
			if info, err := os.Stat(path); err == nil && !info.IsDir() && info.Mode()&0o111 != 0 {
				return path, nil
			}
		}
	}
	return "", fmt.Errorf("cannot run %s: %w", name, exec.ErrNotFound)
}
