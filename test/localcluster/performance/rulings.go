package main

import (
	"context"
	"crypto/x509"
	"errors"
	"time"

	admissionregistrationv1 "k8s.io/api/admissionregistration/v1"
)

// connections ask a webhook at once, as an API server does that has many writes
// in hand.
const connections = 8

// measureRulings asks the webhooks themselves, without an API server in between.
// Each has one processor; the one that asks has the others.
func measureRulings(ctx context.Context, b *bench) error {
	if err := b.makeArenas(ctx, 1); err != nil {
		return err
	}
	if err := b.governArenas(ctx, 1); err != nil {
		return err
	}
	if err := b.install(ctx, 1, "1"); err != nil {
		return err
	}
	if err := b.allowAll.restart(ctx, "1"); err != nil {
		return err
	}
	if err := b.awaitEffect(ctx, true, arena(0)); err != nil {
		return err
	}
	contenders, err := b.contenders(ctx)
	if err != nil {
		return err
	}
	for round := range b.rounds {
		for i := range contenders {
			c := contenders[i]
			if round%2 == 1 {
				c = contenders[len(contenders)-1-i]
			}
			if err := c.measure(ctx, b.load); err != nil {
				return err
			}
		}
	}
	b.reportRulings(contenders)
	return errors.Join(b.uninstall(ctx), b.allowAll.restart(ctx, ""))
}

func (b *bench) reportRulings(contenders []*contender) {
	base := contenders[0]
	b.report.add("3", "rulings/s, "+base.name, "/s", target{}, base.rate...)
	for _, c := range contenders[1:] {
		b.report.addBeside("3", "rulings/s, "+c.name, "/s", atLeast(0.95), c.rate, base.name, base.rate)
	}
	b.report.add("3", "per processor second, "+base.name, "", target{}, base.perProcessor...)
	for _, c := range contenders[1:] {
		b.report.addBeside("3", "per processor second, "+c.name, "", target{}, c.perProcessor, base.name, base.perProcessor)
	}
}

// contender is one webhook that is asked one thing.
type contender struct {
	name string
	pid  int
	load *generator
	// rate is what was answered in a second, perProcessor what in a second of the
	// process's processor time.
	rate, perProcessor []float64
}

func (c *contender) measure(ctx context.Context, for_ time.Duration) error {
	before, err := processorTime(c.pid)
	if err != nil {
		return err
	}
	answers, took, err := c.load.run(ctx, for_)
	if err != nil {
		return err
	}
	after, err := processorTime(c.pid)
	c.rate = append(c.rate, float64(answers)/took.Seconds())
	c.perProcessor = append(c.perProcessor, float64(answers)/max(after-before, time.Second/ticksPerSecond).Seconds())
	return err
}

// contenders are the webhook that allows everything, first, and ours, by what is
// ruled.
func (b *bench) contenders(ctx context.Context) ([]*contender, error) {
	bodies, err := b.reviews()
	if err != nil {
		return nil, err
	}
	configuration, err := b.registered(ctx)
	if err != nil {
		return nil, err
	}
	trusted := func(config admissionregistrationv1.WebhookClientConfig) *x509.CertPool {
		pool := x509.NewCertPool()
		pool.AppendCertsFromPEM(config.CABundle)
		return pool
	}
	if len(configuration.Webhooks) == 0 {
		return nil, errors.New("Leasewarden has registered no webhook for Leases")
	}
	ours := trusted(configuration.Webhooks[0].ClientConfig)
	warden := b.leader()
	allow := &generator{address: b.allowAll.address(), path: "/", trusted: trusted(b.allowAll.clientConfig()), bodies: bodies, connections: connections}
	all := []*contender{{name: "allow-all", pid: b.allowAll.process.PID(), load: allow}}
	for _, c := range []struct {
		name, path string
		bodies     [][]byte
		allowed    bool
	}{
		{"chosen", "/validate-lease", bodies[:1], true},
		{"refused", "/validate-lease", bodies[1:], false},
		{"stamped", "/mutate-lease", bodies[:1], true},
	} {
		all = append(all, &contender{name: c.name, pid: warden.PID(), load: &generator{
			address: warden.Webhook(), path: c.path, trusted: ours, bodies: c.bodies, allowed: &c.allowed, connections: connections,
		}})
	}
	return all, nil
}
