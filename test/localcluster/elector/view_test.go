package elector

import (
	"context"
	"testing"
	"time"

	. "github.com/onsi/gomega"
)

// A process that stands still does not lead from then on, and leads again only
// once it has renewed the Lease.
func TestViewOfAProcessThatStoodStill(t *testing.T) {
	g := NewWithT(t)
	var leads []bool
	v := &view{identity: "a", notify: func(r Record) { leads = append(leads, r.Leads) }}
	v.renewed()
	g.Expect(leads).To(BeEmpty(), "client-go says when a term begins")
	v.leads(context.Background())
	v.renewed()
	v.stood(time.Now())
	v.stood(time.Now())
	v.renewed()
	v.stops()
	v.renewed()
	v.leads(context.Background())
	v.close()
	v.leads(context.Background())
	g.Expect(leads).To(Equal([]bool{true, false, true, false, true, false}))
}
