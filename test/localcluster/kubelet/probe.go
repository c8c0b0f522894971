package kubelet

import (
	"context"
	"crypto/tls"
	"fmt"
	"net"
	"net/http"
	"strconv"
	"syscall"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/util/intstr"
)

// prober runs the probes of one run of a container.
type prober struct {
	cancel context.CancelFunc
}

// startProbes starts the container's probes. Without a readiness probe the
// container is ready when it runs. The caller holds the lock.
func (w *podWorker) startProbes(c *container) {
	ctx, cancel := context.WithCancel(w.ctx)
	c.probes = &prober{cancel: cancel}
	run := c.process
	current := func() bool { return c.process == run }
	c.startup = c.spec.StartupProbe == nil
	c.ready = c.startup && c.spec.ReadinessProbe == nil

	running := func() {
		if p := c.spec.ReadinessProbe; p != nil {
			go w.probe(ctx, c, p, func(ok bool) {
				if current() && c.ready != ok {
					c.ready = ok
				}
			})
		}
		if p := c.spec.LivenessProbe; p != nil {
			go w.probe(ctx, c, p, func(ok bool) {
				if current() && !ok {
					w.event(corev1.EventTypeWarning, "Unhealthy", "Liveness probe failed, stopping container "+c.spec.Name)
					go run.Stop(w.gracePeriod())
				}
			})
		}
	}
	if p := c.spec.StartupProbe; p != nil {
		go w.probe(ctx, c, p, func(ok bool) {
			switch {
			case !current() || c.startup:
			case ok:
				c.startup = true
				c.ready = c.spec.ReadinessProbe == nil
				running()
			default:
				w.event(corev1.EventTypeWarning, "Unhealthy", "Startup probe failed, stopping container "+c.spec.Name)
				_ = run.Signal(syscall.SIGTERM)
			}
		})
		return
	}
	running()
}

func (c *container) stopProbes() {
	if c.probes != nil {
		c.probes.cancel()
	}
}

func (w *podWorker) gracePeriod() time.Duration {
	if s := w.pod.Spec.TerminationGracePeriodSeconds; s != nil {
		return max(time.Duration(*s)*time.Second, minGrace)
	}
	return corev1.DefaultTerminationGracePeriodSeconds * time.Second
}

// probe probes until the context ends, and calls report, with the lock held,
// whenever one of the thresholds is reached.
func (w *podWorker) probe(ctx context.Context, c *container, p *corev1.Probe, report func(ok bool)) {
	period := time.Duration(max(1, p.PeriodSeconds)) * time.Second
	timer := time.NewTimer(time.Duration(p.InitialDelaySeconds) * time.Second)
	defer timer.Stop()
	successes, failures := int32(0), int32(0)
	for {
		select {
		case <-ctx.Done():
			return
		case <-timer.C:
		}
		timer.Reset(period)
		err := probeOnce(ctx, w.ip, c.spec, p)
		if ctx.Err() != nil || w.kubelet.isStopped() {
			continue
		}
		if err == nil {
			successes, failures = successes+1, 0
		} else {
			successes, failures = 0, failures+1
		}
		w.mu.Lock()
		if successes >= max(1, p.SuccessThreshold) {
			report(true)
		} else if failures >= max(1, p.FailureThreshold) {
			report(false)
		}
		w.mu.Unlock()
		w.poke()
	}
}

// probeOnce returns nil if the container is fine. Probes other than httpGet and
// tcpSocket always find it so.
func probeOnce(ctx context.Context, ip string, c corev1.Container, p *corev1.Probe) error {
	ctx, cancel := context.WithTimeout(ctx, time.Duration(max(1, p.TimeoutSeconds))*time.Second)
	defer cancel()
	switch {
	case p.HTTPGet != nil:
		return probeHTTP(ctx, ip, c, p.HTTPGet)
	case p.TCPSocket != nil:
		host := ip
		if p.TCPSocket.Host != "" {
			host = p.TCPSocket.Host
		}
		connection, err := (&net.Dialer{}).DialContext(ctx, "tcp", net.JoinHostPort(host, portOf(c, p.TCPSocket.Port)))
		if err != nil {
			return err
		}
		return connection.Close()
	}
	return nil
}

// probeClient does not verify certificates, like the kubelet.
var probeClient = &http.Client{
	Transport: &http.Transport{
		TLSClientConfig:   &tls.Config{InsecureSkipVerify: true},
		DisableKeepAlives: true,
		Proxy:             nil,
	},
	CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
}

func probeHTTP(ctx context.Context, ip string, c corev1.Container, get *corev1.HTTPGetAction) error {
	host, scheme := ip, "http"
	if get.Host != "" {
		host = get.Host
	}
	if get.Scheme == corev1.URISchemeHTTPS {
		scheme = "https"
	}
	path := get.Path
	if path == "" || path[0] != '/' {
		path = "/" + path
	}
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, scheme+"://"+net.JoinHostPort(host, portOf(c, get.Port))+path, nil)
	if err != nil {
		return err
	}
	for _, header := range get.HTTPHeaders {
		if header.Name == "Host" {
			request.Host = header.Value
		}
		request.Header.Add(header.Name, header.Value)
	}
	response, err := probeClient.Do(request)
	if err != nil {
		return err
	}
	response.Body.Close()
	if response.StatusCode < 200 || response.StatusCode >= 400 {
		return fmt.Errorf("%s: %s", request.URL, response.Status)
	}
	return nil
}

// portOf resolves a port given by number or by the name of a container port.
func portOf(c corev1.Container, port intstr.IntOrString) string {
	if port.Type == intstr.String {
		for _, p := range c.Ports {
			if p.Name == port.StrVal {
				return strconv.Itoa(int(p.ContainerPort))
			}
		}
		return port.StrVal
	}
	return port.String()
}
