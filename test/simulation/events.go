package simulation

import (
	"time"

	"github.com/leasewarden/leasewarden/test/simulation/api"
)

// What can happen.
const (
	evCrash         = "crash"
	evCrashLeader   = "crash leader"
	evPause         = "pause"
	evPauseLeader   = "pause leader"
	evDelete        = "delete"
	evDeleteLeader  = "delete leader"
	evForceDelete   = "force-delete"
	evNodeLost      = "lose node"
	evUpgrade       = "upgrade"
	evWeather       = "bad weather"
	evWeatherLeader = "bad weather for leader"
	evCutWatches    = "cut watches"
	evReplicaKill   = "kill replica"
	evReplicaStop   = "stop replica"
	evWriterKill    = "kill writer"
	// evWriterKillAtWrite ends the writer at one of its next writes.
	evWriterKillAtWrite = "kill writer at a write"
	// evCrashUnheard has writes of the writer arrive late, and the leader crash.
	evCrashUnheard   = "crash leader, and delay writer"
	evReplicaPause   = "pause replica"
	evReplicaWeather = "bad weather for replica"
	evReplicaSlow    = "slow replica"
	evReplicasDown   = "all replicas down"
	evPolicyEdit     = "edit policy"
	evPolicyDelete   = "delete policy"
	evLeaseDelete    = "delete lease"
	evFrontendDown   = "API server down"
	evRollback       = "roll back"
	// evReplicaSplit cuts a replica off from the API server, while it goes on to
	// be asked, and evCompact has every watch begin with a list again.
	evReplicaSplit = "split replica"
	evCompact      = "cut watches, and forget"
	// evPolicyConflict has a second policy select the Lease.
	evPolicyConflict = "conflicting policy"
)

// lateAfter is how long after bad weather a write may still arrive.
const lateAfter = 60 * time.Second

// happen has an event take place.
func (w *world) happen(ev *event) {
	c := w.components[ev.component]
	r := api.Draw(w.seed, "event", ev.n)
	lasts := api.Skewed(r, time.Second, 6*c.timing.lease)
	var p *pod
	if pods := w.podsOf(c); len(pods) > 0 {
		p = pods[ev.pod%len(pods)]
	}
	switch ev.what {
	case evCrashLeader, evPauseLeader, evDeleteLeader, evWeatherLeader, evCrashUnheard:
		p = w.leader(c)
	}
	if (ev.what == evPause || ev.what == evPauseLeader) && r.IntN(3) == 0 {
		lasts = w.chaos // until the end of all trouble
	}
	what := ev.what
	switch ev.what {
	case evReplicaKill, evReplicaStop, evWriterKill, evWriterKillAtWrite, evReplicaPause, evReplicaWeather, evReplicaSlow, evReplicaSplit, evReplicasDown, evCutWatches, evCompact:
		w.happenToReplicas(ev, lasts)
		return
	case evSwitchover, evPin, evPauseElection:
		w.want(ev, c, p, lasts)
		return
	case evLeaseEdit:
		w.editLease(ev, c)
		return
	case evPolicyConflict:
		w.addRival(ev, c, lasts)
		return
	case evPolicyEdit, evPolicyDelete:
		w.editPolicy(ev, c, lasts)
		return
	case evUpgrade:
		w.upgrade(c, 1)
		return
	case evRollback:
		w.upgrade(c, -1)
		return
	case evLeaseDelete:
		w.trace.add("%s of %s", what, c.name)
		w.watchdog.deleteLease(c)
		w.api.Remove(api.Leases, namespace, c.name)
		return
	case evFrontendDown:
		f := w.frontends[ev.pod%len(w.frontends)]
		w.trace.add("%s for %s", what, lasts)
		w.disturbFor(ev, lasts, func() { f.SetDown(true) }, func() { f.SetDown(false) })
		return
	}
	if p == nil {
		return
	}
	w.trace.add("%s: %s", what, p.name)
	switch ev.what {
	case evCrash, evCrashLeader:
		p.crash()
	case evCrashUnheard:
		w.delayWriter(ev, lasts)
		p.crash()
	case evPause, evPauseLeader:
		p.pause()
		w.after(ev, lasts, p.resume)
	case evDelete, evDeleteLeader:
		p.delete()
	case evForceDelete:
		p.forceDelete(api.Skewed(r, 0, 3*c.timing.lease))
	case evNodeLost:
		p.lose()
		w.after(ev, lasts, p.find)
	case evWeather, evWeatherLeader:
		weather := drawWeather(ev.n, w.seed, c.timing.slack()/2)
		w.disturbFor(ev, lasts, func() { p.fare(weather) }, func() { p.fare(api.Calm) })
	}
}

// delayWriter has most writes of the writer arrive after it gave up on them.
func (w *world) delayWriter(ev *event, lasts time.Duration) {
	for _, r := range w.replicas {
		if r.isWriter() {
			weather := api.Calm
			weather.Late = 0.7
			w.disturbFor(ev, lasts, func() { r.fare(weather) }, func() { r.fare(api.Calm) })
		}
	}
}

// after has something end after a while, or just before all is calm: each a
// moment from the others.
func (w *world) after(ev *event, d time.Duration, end func()) {
	left := time.Until(w.trace.start.Add(w.chaos)) - time.Duration(ev.n+1)*time.Microsecond
	go func() {
		time.Sleep(min(d, left))
		end()
	}()
}

// disturbFor has something go on for a while that may hold up everybody.
func (w *world) disturbFor(ev *event, d time.Duration, begin, end func()) {
	w.watchdog.disturb(d + lateAfter)
	begin()
	w.after(ev, d, end)
}

// drawWeather is some kind of bad weather. An answer does not take longer than
// slack.
func drawWeather(n, seed uint64, slack time.Duration) api.Weather {
	r := api.Draw(seed, "weather", n)
	weather := api.Weather{Latency: api.Skewed(r, 10*time.Millisecond, slack/2), Delay: api.Skewed(r, 50*time.Millisecond, 10*time.Second)}
	for _, chance := range []*float64{&weather.Lose, &weather.Forget, &weather.Late, &weather.Fail, &weather.Conflict} {
		if r.IntN(3) == 0 {
			*chance = r.Float64() * 0.7
		}
	}
	if r.IntN(6) == 0 {
		weather.Down = true
	}
	return weather
}

func (w *world) happenToReplicas(ev *event, lasts time.Duration) {
	if len(w.replicas) == 0 {
		return
	}
	w.watchdog.disturb(lasts + lateAfter)
	r := w.replicas[ev.pod%len(w.replicas)]
	if ev.what == evWriterKill || ev.what == evWriterKillAtWrite || ev.what == evReplicaWeather && ev.pod%4 > 0 {
		for _, o := range w.replicas {
			if o.isWriter() {
				r = o
			}
		}
	}
	w.trace.add("%s: %s", ev.what, r.name)
	switch ev.what {
	case evReplicaKill, evWriterKill:
		r.kill(lasts)
	case evReplicaStop:
		r.stop(lasts)
	case evWriterKillAtWrite:
		r.fuse(1+ev.pod%5, ev.n%2 == 0, lasts)
	case evReplicaPause:
		if w.options.Instant {
			return
		}
		r.pause()
		w.after(ev, lasts, r.resume)
	case evReplicaWeather:
		weather := drawWeather(ev.n, w.seed, 2*time.Second)
		r.fare(weather)
		w.after(ev, lasts, func() { r.fare(api.Calm) })
	case evReplicaSlow:
		if w.options.Instant {
			return
		}
		r.slow(api.Skewed(api.Draw(w.seed, "slow", ev.n), 10*time.Millisecond, 3*time.Second))
		w.after(ev, lasts, func() { r.slow(0) })
	case evReplicaSplit:
		r.fare(api.Weather{Latency: api.Calm.Latency, Delay: api.Calm.Delay, Lose: 1})
		r.cutWatches()
		w.after(ev, lasts, func() { r.fare(api.Calm) })
	case evCutWatches:
		r.cutWatches()
	case evCompact:
		w.api.Compact()
		for _, o := range w.replicas {
			o.cutWatches()
		}
	case evReplicasDown:
		for _, o := range w.replicas {
			o.kill(lasts)
		}
	}
}
