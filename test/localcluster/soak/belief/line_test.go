package belief

import (
	"testing"
	"time"
)

func TestLine(t *testing.T) {
	day := time.Date(2026, 12, 1, 0, 0, 0, 0, time.UTC)
	klog := day.Add(13*time.Hour + 4*time.Minute + 5*time.Second + 123456*time.Microsecond)
	components, records := &Reader{Lock: "soak/scheduler", Year: 2026}, &Reader{Lock: "soak/scheduler", Year: 2026, Records: true}
	for name, test := range map[string]struct {
		reader *Reader
		line   string
		want   Event
		ok     bool
	}{
		"acquired": {
			components, `I1201 13:04:05.123456       1 leaderelection.go:272] "Successfully acquired lease" lock="soak/scheduler"`,
			Event{klog, Leads}, true,
		},
		"acquired, as an older release writes it": {
			components, `I1201 13:04:05.123456       1 leaderelection.go:272] successfully acquired lease soak/scheduler`,
			Event{klog, Leads}, true,
		},
		"renewed": {
			components, `I1201 13:04:05.123456       1 leaderelection.go:300] "Successfully renewed lease" lock="soak/scheduler"`,
			Event{klog, Renews}, true,
		},
		"lost": {
			components, `I1201 13:04:05.123456       1 leaderelection.go:304] "Failed to renew lease" lock="soak/scheduler" err="context deadline exceeded"`,
			Event{klog, Stops}, true,
		},
		"another Lease":          {components, `I1201 13:04:05.123456       1 l.go:1] "Successfully acquired lease" lock="soak/scheduler-2"`, Event{}, false},
		"something else":         {components, `I1201 13:04:05.123456       1 l.go:1] "Attempting to acquire leader lease..." lock="soak/scheduler"`, Event{}, false},
		"no time":                {components, `Successfully acquired lease soak/scheduler`, Event{}, false},
		"a record nobody writes": {components, `{"identity":"a_1","leads":true,"at":"2026-12-01T00:00:00Z"}`, Event{}, false},
		"a record of a begin":    {records, `{"identity":"a_1","leads":true,"at":"2026-12-01T00:00:00Z"}`, Event{day, Leads}, true},
		"a record of an end":     {records, `{"identity":"a_1","leads":false,"at":"2026-12-01T00:00:00Z"}`, Event{day, Stops}, true},
		"half a record":          {records, `{"identity":"a_1","lea`, Event{}, false},
		"renewed, beside records": {
			records, `I1201 13:04:05.123456       1 leaderelection.go:300] "Successfully renewed lease" lock="soak/scheduler"`,
			Event{klog, Renews}, true,
		},
		"acquired, beside records": {
			records, `I1201 13:04:05.123456       1 leaderelection.go:272] "Successfully acquired lease" lock="soak/scheduler"`,
			Event{}, false,
		},
	} {
		t.Run(name, func(t *testing.T) {
			got, ok := test.reader.Line([]byte(test.line + "\n"))
			if ok != test.ok || !got.At.Equal(test.want.At) || got.Kind != test.want.Kind {
				t.Errorf("got %v, %v", got, ok)
			}
		})
	}
}
