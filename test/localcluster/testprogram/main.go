// The program that the tests of a local cluster run in pods: it says what it
// sees of its pod, and then does what its argument says.
//
//	serve     answers HTTP on POD_IP:8080: /ready with 200 once POST /ready came; ends with 0 on SIGTERM
//	stubborn  ignores SIGTERM
//	exit N    ends at once with the exit code N
//	elect     competes for a Lease: [-release=false] [-once] [-coordinated VERSION]
//	          [-after DURATION] LEASE LEASE_DURATION RENEW_DEADLINE RETRY_PERIOD
package main

import (
	"context"
	"encoding/json"
	"fmt"
	"net"
	"net/http"
	"os"
	"os/signal"
	"strconv"
	"sync/atomic"
	"syscall"
	"time"

	authenticationv1 "k8s.io/api/authentication/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"
)

// report is the first line of output.
type report struct {
	Hostname  string
	Namespace string
	PID       int
	User      string
	Extra     map[string]authenticationv1.ExtraValue
	Env       map[string]string
	Args      []string
	Error     string
}

func main() {
	r := newReport()
	_ = json.NewEncoder(os.Stdout).Encode(r)
	if len(os.Args) < 2 {
		return
	}
	switch os.Args[1] {
	case "exit":
		code, err := strconv.Atoi(os.Args[2])
		if err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(99)
		}
		os.Exit(code)
	case "stubborn":
		signal.Ignore(syscall.SIGTERM)
		select {}
	case "serve":
		serve()
	case "elect":
		if err := elect(r.Namespace, r.Hostname, os.Args[2:]); err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(97)
		}
	}
}

func serve() {
	stop := make(chan os.Signal, 1)
	signal.Notify(stop, syscall.SIGTERM)
	var ready atomic.Bool
	http.HandleFunc("/ready", func(w http.ResponseWriter, r *http.Request) {
		if r.Method == http.MethodPost {
			ready.Store(true)
		}
		if !ready.Load() {
			http.Error(w, "not yet", http.StatusServiceUnavailable)
		}
	})
	http.HandleFunc("/hostname", func(w http.ResponseWriter, _ *http.Request) {
		name, _ := os.Hostname()
		fmt.Fprint(w, name)
	})
	listener, err := net.Listen("tcp", net.JoinHostPort(os.Getenv("POD_IP"), "8080"))
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(98)
	}
	go func() { _ = http.Serve(listener, nil) }()
	<-stop
	fmt.Println("terminated")
}

func newReport() report {
	r := report{PID: os.Getpid(), Args: os.Args[1:], Env: map[string]string{}}
	fail := func(err error) report {
		r.Error = err.Error()
		return r
	}
	var err error
	if r.Hostname, err = os.Hostname(); err != nil {
		return fail(err)
	}
	for _, name := range []string{"POD_NAME", "POD_IP", "NODE_NAME", "GREETING", "FROM_CONFIG"} {
		r.Env[name] = os.Getenv(name)
	}
	namespace, err := os.ReadFile("/var/run/secrets/kubernetes.io/serviceaccount/namespace")
	if err != nil {
		return fail(err)
	}
	r.Namespace = string(namespace)
	config, err := rest.InClusterConfig()
	if err != nil {
		return fail(err)
	}
	client, err := kubernetes.NewForConfig(config)
	if err != nil {
		return fail(err)
	}
	ctx, cancel := context.WithTimeout(context.Background(), 10*time.Second)
	defer cancel()
	review, err := client.AuthenticationV1().SelfSubjectReviews().Create(ctx, &authenticationv1.SelfSubjectReview{}, metav1.CreateOptions{})
	if err != nil {
		return fail(err)
	}
	r.User, r.Extra = review.Status.UserInfo.Username, review.Status.UserInfo.Extra
	return r
}
