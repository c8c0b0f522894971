// Package process starts programs that never outlive the process that started
// them, neither after a panic nor after SIGKILL, and optionally runs them like
// containers: in PID, mount and UTS namespaces of their own.
//
// A small launcher (built from source that this package embeds, see
// LauncherSource) stands between the two and holds up the guarantee. It covers
// what the program itself starts in turn, except for a process on the host that
// makes a session of its own; in a container nothing gets away.
package process
