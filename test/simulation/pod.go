package simulation

import (
	"context"
	"fmt"
	"math/rand/v2"
	"sync"
	"time"

	"github.com/google/uuid"
	appsv1 "k8s.io/api/apps/v1"
	authenticationv1 "k8s.io/api/authentication/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apiserver/pkg/authentication/serviceaccount"

	"github.com/leasewarden/leasewarden/test/simulation/api"
)

// pod is a Pod with one container, and the kubelet that looks after it.
type pod struct {
	w         *world
	component *component
	name      string
	version   string
	minor     int
	revision  int
	node      string
	slot      int
	clock     skewedClock
	frontend  *api.Frontend

	// ended is closed once nothing of it runs any more.
	ended chan struct{}

	mu      sync.Mutex
	object  *corev1.Pod // as the kubelet reports it
	elector *elector    // nil: no process runs
	cancel  context.CancelFunc
	// leaving has it not started again, cutOff has the kubelet unheard, gone is
	// for an object that was deleted while the process runs on.
	leaving, cutOff, gone bool
	hung                  bool
	weather               api.Weather
	draws                 uint64
}

// draw is the next source of chances of the Pod.
func (p *pod) draw() *rand.Rand {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.draws++
	return api.Draw(p.w.seed, p.name, p.draws)
}

// startPod makes a Pod of the component, of its last revision.
func (w *world) startPod(c *component, slot int) *pod {
	revision, minor := w.current(c)
	r := api.Draw(w.seed, "pod "+c.name, w.counted("pod "+c.name))
	p := &pod{
		w: w, component: c, name: fmt.Sprintf("%s-%d-%s", c.name, slot, suffix(r)), revision: revision,
		version: fmt.Sprintf("1.%d.0", minor), minor: minor, node: fmt.Sprintf("node-%d", slot%3), slot: slot,
		frontend: w.frontends[slot%len(w.frontends)], ended: make(chan struct{}), weather: api.Calm,
	}
	p.clock = skewedClock{start: w.trace.start}
	if c.skewed {
		p.clock.offset, p.clock.drift = w.skew(p.node)
	}
	p.object = &corev1.Pod{
		ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: p.name, CreationTimestamp: metav1.NewTime(time.Now().Truncate(time.Second)), Labels: map[string]string{
			appLabel: c.name, versionLabel: p.version, appsv1.DefaultDeploymentUniqueLabelKey: fmt.Sprintf("hash-%d", revision),
		}},
		Spec:   corev1.PodSpec{NodeName: p.node, Containers: []corev1.Container{{Name: "main", Image: "main:" + p.version}}},
		Status: corev1.PodStatus{Phase: corev1.PodPending},
	}
	w.api.Put(api.Pods, p.object)
	p.object.UID = w.api.Get(api.Pods, namespace, p.name).UID
	w.add(p)
	go p.live()
	return p
}

func suffix(r *rand.Rand) string { return fmt.Sprintf("%04x", r.IntN(1<<16)) }

// live is the kubelet: it starts the container, again and again.
func (p *pod) live() {
	defer close(p.ended)
	time.Sleep(api.Skewed(p.draw(), 200*time.Millisecond, 8*time.Second))
	for restarts := int32(0); !p.isLeaving(); restarts++ {
		e, ctx := p.startProcess()
		p.running(restarts)
		e.run(ctx, p.component, p.clock)
		p.stopped()
		time.Sleep(api.Skewed(p.draw(), 100*time.Millisecond, 2*time.Second))
		p.terminated(restarts)
		if p.isLeaving() {
			break
		}
		time.Sleep(api.Skewed(p.draw(), time.Second, 10*time.Second))
	}
	time.Sleep(api.Skewed(p.draw(), 100*time.Millisecond, 2*time.Second))
	p.w.remove(p)
}

func (p *pod) isLeaving() bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.leaving
}

// startProcess starts a process, with an identity of its own.
func (p *pod) startProcess() (*elector, context.Context) {
	r := p.draw()
	var id uuid.UUID
	for i := range id {
		id[i] = byte(r.Uint32())
	}
	identity := p.name + "_" + id.String()
	user := authenticationv1.UserInfo{Username: serviceaccount.MakeUsername(namespace, p.component.name)}
	if p.component.bound {
		user.Extra = map[string]authenticationv1.ExtraValue{
			serviceaccount.PodNameKey: {p.name}, serviceaccount.PodUIDKey: {string(p.object.UID)}, serviceaccount.NodeNameKey: {p.node},
		}
	}
	e := &elector{
		lease: p.component.name, identity: identity, timing: p.component.timing, strip: p.component.strip,
		link:    p.frontend.Link(identity, user, p.component.timing.timeout()),
		changed: p.w.watchdog.believes, denied: p.w.watchdog.denied,
	}
	ctx, cancel := context.WithCancel(p.w.ctx)
	p.mu.Lock()
	defer p.mu.Unlock()
	p.elector, p.cancel = e, cancel
	e.link.SetWeather(p.weather)
	if p.leaving {
		cancel()
	}
	return e, ctx
}

func (p *pod) stopped() {
	p.mu.Lock()
	e := p.elector
	p.elector, p.hung = nil, false
	p.mu.Unlock()
	e.kill()
}

// now is the time of the node, as the kubelet writes it.
func (p *pod) now() metav1.Time { return metav1.NewTime(p.clock.Now().Truncate(time.Second)) }

func (p *pod) running(restarts int32) {
	p.report(func(s *corev1.ContainerStatus) {
		if s.State.Terminated != nil {
			s.LastTerminationState = s.State
		}
		s.ContainerID = fmt.Sprintf("sim://%s-%d", p.name, restarts)
		s.RestartCount = restarts
		s.State = corev1.ContainerState{Running: &corev1.ContainerStateRunning{StartedAt: p.now()}}
		p.object.Status.Phase = corev1.PodRunning
		p.object.Status.Conditions = []corev1.PodCondition{{Type: corev1.PodReady, Status: corev1.ConditionTrue}}
	})
}

func (p *pod) terminated(restarts int32) {
	p.report(func(s *corev1.ContainerStatus) {
		run := &corev1.ContainerStateTerminated{ContainerID: s.ContainerID, ExitCode: 1, Reason: "Error", FinishedAt: p.now()}
		if s.State.Running != nil {
			run.StartedAt = s.State.Running.StartedAt
		}
		s.State = corev1.ContainerState{Terminated: run}
		p.object.Status.Conditions = nil
	})
}

// report changes the status of the Pod, and has it known if the kubelet is heard.
func (p *pod) report(change func(*corev1.ContainerStatus)) {
	p.mu.Lock()
	defer p.mu.Unlock()
	statuses := &p.object.Status.ContainerStatuses
	if len(*statuses) == 0 {
		*statuses = []corev1.ContainerStatus{{Name: "main"}}
	}
	change(&(*statuses)[0])
	p.publish()
}

// publish writes the Pod as the kubelet knows it. The lock is held.
func (p *pod) publish() {
	if !p.cutOff && !p.gone {
		p.w.api.Put(api.Pods, p.object.DeepCopy())
	}
}

// crash ends the process at once.
func (p *pod) crash() {
	p.mu.Lock()
	e, cancel := p.elector, p.cancel
	p.mu.Unlock()
	if e != nil {
		e.kill()
		cancel()
	}
}

// delete ends the Pod as eviction does: the process is told.
func (p *pod) delete() {
	p.mu.Lock()
	if p.leaving {
		p.mu.Unlock()
		return
	}
	p.leaving = true
	now := metav1.NewTime(time.Now().Truncate(time.Second))
	p.object.DeletionTimestamp = &now
	p.publish()
	cancel, grace := p.cancel, api.Between(api.Draw(p.w.seed, p.name+" grace", 0), 10*time.Millisecond, time.Second)
	p.mu.Unlock()
	go func() {
		time.Sleep(grace)
		if cancel != nil {
			cancel()
		}
		time.Sleep(30 * time.Second)
		p.crash() // SIGKILL
	}()
}

// forceDelete removes the object, and leaves the process running for a while.
func (p *pod) forceDelete(runsOn time.Duration) {
	p.mu.Lock()
	p.gone, p.leaving = true, true
	p.mu.Unlock()
	p.w.api.Remove(api.Pods, namespace, p.name)
	go func() {
		time.Sleep(runsOn)
		p.crash()
	}()
}

// lose cuts the node off, with the kubelet and the process.
func (p *pod) lose() {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.cutOff = true
	p.setWeather(api.Weather{Latency: api.Calm.Latency, Delay: api.Calm.Delay, Lose: 1})
}

// find ends lose.
func (p *pod) find() {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.cutOff {
		p.cutOff = false
		p.publish()
	}
	p.setWeather(api.Calm)
}

// setWeather is how the requests of the Pod fare. The lock is held.
func (p *pod) setWeather(weather api.Weather) {
	p.weather = weather
	if p.elector != nil {
		p.elector.link.SetWeather(weather)
	}
}

func (p *pod) fare(weather api.Weather) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.setWeather(weather)
}

// pause stops the process, as SIGSTOP does, or as a deadlock.
func (p *pod) pause() {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.elector != nil {
		p.hung = true
		p.elector.link.Pause()
	}
}

func (p *pod) resume() {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.hung = false
	if p.elector != nil {
		p.elector.link.Resume()
	}
}

// fit reports whether nothing keeps the process from electing.
func (p *pod) fit() bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.elector != nil && !p.leaving && !p.gone && !p.cutOff && !p.hung && p.weather == api.Calm
}

func (p *pod) current() *elector {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.elector
}
