package auditlog

import (
	"bytes"
	"compress/gzip"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

// event is a line about a Lease, at a second of 2026.
func event(second int, name string) string {
	return fmt.Sprintf(`{"kind":"Event","apiVersion":"audit.k8s.io/v1","level":"Request","auditID":"%[1]s-%[2]d","stage":"ResponseComplete",`+
		`"requestURI":"/apis/coordination.k8s.io/v1/namespaces/ns/leases/%[1]s","verb":"update","user":{"username":"u"},`+
		`"objectRef":{"resource":"leases","namespace":"ns","name":%[1]q,"apiGroup":"coordination.k8s.io"},`+
		`"responseStatus":{"metadata":{},"code":200},"requestObject":{"spec":{}},"stageTimestamp":"2026-01-01T00:00:%02[2]d.000000Z"}`, name, second) + "\n"
}

const foreign = `{"kind":"Event","apiVersion":"audit.k8s.io/v1","stage":"ResponseComplete","verb":"get","objectRef":{"resource":"nodes","name":"n"},"stageTimestamp":"2026-01-01T00:00:00Z"}` + "\n"

// write writes files into a directory and returns their paths.
func write(t *testing.T, files ...string) []string {
	t.Helper()
	dir, paths := t.TempDir(), []string{}
	for i, text := range files {
		path := filepath.Join(dir, fmt.Sprintf("%d.log", i))
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		paths = append(paths, path)
	}
	return paths
}

// names reads a log to its end, and returns the names of the objects in it.
func names(t *testing.T, o Options) ([]string, *Log) {
	t.Helper()
	o.Resources = []string{"leases"}
	l, err := Open(context.Background(), o)
	if err != nil {
		t.Fatal(err)
	}
	var all []string
	for {
		e, err := l.Next()
		if errors.Is(err, io.EOF) {
			return all, l
		}
		if err != nil {
			t.Fatal(err)
		}
		all = append(all, e.Ref.Name)
	}
}

func zipped(text string) string {
	var b bytes.Buffer
	w := gzip.NewWriter(&b)
	if _, err := io.WriteString(w, text); err != nil || w.Close() != nil {
		panic("in memory")
	}
	return b.String()
}

func TestOrder(t *testing.T) {
	for name, test := range map[string]struct {
		files []string
		want  string
	}{
		"one file out of order":              {[]string{event(3, "c") + event(1, "a") + event(2, "b")}, "a b c"},
		"events of the same time":            {[]string{event(2, "c") + event(1, "b") + event(1, "a")}, "b a c"},
		"a rotated file begins out of order": {[]string{event(1, "a") + event(4, "d"), event(5, "e") + event(3, "c") + event(2, "b")}, "a b c d e"},
		"rotated files, given newest first":  {[]string{event(5, "e") + event(6, "f"), event(3, "c"), event(1, "a") + event(2, "b")}, "a b c e f"},
		"several API servers, side by side":  {[]string{event(1, "a") + event(3, "c") + event(5, "e"), event(2, "b") + event(4, "d")}, "a b c d e"},
		"gzipped or not":                     {[]string{event(3, "c"), zipped(event(1, "a") + event(2, "b"))}, "a b c"},
		"a file begins with other lines":     {[]string{event(2, "b"), "\n" + foreign + foreign + event(1, "a")}, "a b"},
		"an empty file":                      {[]string{event(2, "b"), ""}, "b"},
		"no event is wanted":                 {[]string{foreign}, ""},
	} {
		t.Run(name, func(t *testing.T) {
			got, _ := names(t, Options{Paths: write(t, test.files...)})
			if strings.Join(got, " ") != test.want {
				t.Errorf("got %v, want %s", got, test.want)
			}
		})
	}
}

func TestStandardInput(t *testing.T) {
	paths := append(write(t, event(2, "b")+event(4, "d")), Stdin)
	got, l := names(t, Options{Paths: paths, Stdin: strings.NewReader(zipped(event(1, "a") + event(3, "c")))})
	if strings.Join(got, " ") != "a b c d" {
		t.Errorf("got %v", got)
	}
	if stats := l.Stats(); stats.Lines != 4 || stats.Events != 4 || stats.Audit != 4 {
		t.Errorf("stats are %+v", stats)
	}
}

func TestFindings(t *testing.T) {
	whole := event(1, "a")
	for name, test := range map[string]struct {
		text string
		// want has %s in the place of the path.
		want   []string
		events string
	}{
		"nothing":                       {whole, nil, "a"},
		"cut off in the last line":      {whole + event(2, "b")[:300], []string{"last line is cut off (1): %s:2"}, "a"},
		"cut off in another's line":     {whole + foreign[:50], []string{"last line is cut off (1): %s:2"}, "a"},
		"not even a newline at the end": {whole + strings.TrimSpace(event(2, "b")), nil, "a b"},
		"broken lines":                  {`{"leases":` + "\n" + whole + "garbage\n" + `{"leases" 1}` + "\n" + event(2, "b"), []string{"line is broken (3): %[1]s:1, %[1]s:3, %[1]s:4"}, "a b"},
		"a line of two":                 {strings.TrimSpace(whole) + whole, []string{"line is broken (1): %s:1"}, ""},
		"another kind": {strings.Replace(whole, `"Event"`, `"Lease"`, 1) + whole,
			[]string{"line is not an Event of audit.k8s.io/v1 (1): %s:1"}, "a"},
		"another version": {strings.Replace(whole, "audit.k8s.io/v1", "audit.k8s.io/v1beta1", 1) + whole,
			[]string{"line is not an Event of audit.k8s.io/v1 (1): %s:1"}, "a"},
		"an EventList": {`{"kind":"EventList","apiVersion":"audit.k8s.io/v1","items":[` + strings.TrimSpace(whole) + `]}`,
			[]string{"line is an EventList: write one event a line, as jq -c . does, or jq -c '.items[]' of an EventList (1): %s:1"}, ""},
		"an EventList of something else": {`{"kind":"EventList","apiVersion":"audit.k8s.io/v1","items":[]}` + "\n",
			[]string{"line is an EventList: write one event a line, as jq -c . does, or jq -c '.items[]' of an EventList (1): %s:1"}, ""},
		"a list": {"[" + strings.TrimSpace(whole) + "]",
			[]string{"JSON takes several lines, or one line has several events: write one event a line, as jq -c . does, or jq -c '.items[]' of an EventList (1): %s:1"}, ""},
		"for people": {"{\n  \"kind\": \"Event\"\n}\n",
			[]string{"JSON takes several lines, or one line has several events: write one event a line, as jq -c . does, or jq -c '.items[]' of an EventList (1): %s:1", "line is broken (2): %[1]s:2, %[1]s:3"}, ""},
		"an unknown field": {whole + strings.Replace(event(2, "b"), `"auditID"`, `"color":{"a":[1]},"auditID"`, 1),
			[]string{`event has an unknown field "color" (1): %s:2`}, "a b"},
		"a time that is none": {strings.Replace(whole, "2026-01-01T", "yesterday", 1) + whole, []string{"line is broken (1): %s:1"}, "a"},
		"no time":             {strings.Replace(whole, "stageTimestamp", "requestReceivedTimestamp", 1) + whole, []string{"line is broken (1): %s:1"}, "a"},
		"fields of other types": {strings.Replace(whole, `"verb":"update"`, `"verb":7`, 1) + strings.Replace(whole, `{"metadata":{},"code":200}`, "[]", 1) + whole,
			[]string{"line is broken (2): %[1]s:1, %[1]s:2"}, "a"},
		"a line that is too long": {whole + `{"leases":"` + strings.Repeat("x", maxLine) + "\"}\n" + event(2, "b"),
			[]string{"line is longer than 16 MiB and was skipped (1): %s:2"}, "a b"},
		"a long line":          {strings.Replace(whole, `{"spec":{}}`, `{"x":"`+strings.Repeat("x", 3*bufferSize)+`"}`, 1) + event(2, "b"), nil, "a b"},
		"Windows' line ends":   {strings.ReplaceAll(whole+event(2, "b"), "\n", "\r\n"), nil, "a b"},
		"spaces, other order":  {`{ "stageTimestamp" : "2026-01-01T00:00:00Z", "objectRef": {"name": "a", "resource": "leases"}, "stage": "ResponseComplete", "apiVersion":"audit.k8s.io/v1", "kind": "Event" }` + "\n", nil, "a"},
		"the same event again": {whole + event(2, "b") + whole, []string{"event is a copy of another one and was skipped (1): %s:3"}, "a b"},
		"the same line again, without an auditID": {strings.Repeat(strings.Replace(whole, "auditID", "userAgent", 1), 2),
			[]string{"event is a copy of another one and was skipped (1): %s:2"}, "a"},
		"the same ID at another time": {whole + strings.Replace(event(2, "b"), "b-2", "a-1", 1), nil, "a b"},
		"not gzip after all":          {"\x1f\x8b" + whole, []string{"file could not be read to its end: gzip: invalid header (1): %s"}, ""},
		"cut off in gzip":             {zipped(whole + event(2, "b"))[:150], []string{"file could not be read to its end: unexpected EOF (1): %s:1"}, ""},
	} {
		t.Run(name, func(t *testing.T) {
			paths := write(t, test.text)
			got, l := names(t, Options{Paths: paths})
			var found, want []string
			for _, f := range l.Findings() {
				if !strings.Contains(name, "gzip") || !strings.HasPrefix(f.What, "last line") {
					found = append(found, f.String())
				}
			}
			for _, w := range test.want {
				want = append(want, strings.ReplaceAll(strings.ReplaceAll(w, "%[1]s", "%s"), "%s", paths[0]))
			}
			if diff := cmp.Diff(want, found); diff != "" {
				t.Errorf("findings (-want +got):\n%s", diff)
			}
			if strings.Join(got, " ") != test.events {
				t.Errorf("events are %v, want %s", got, test.events)
			}
		})
	}
}

// many are n events, one a second from the first.
func many(first, n int) string {
	var b strings.Builder
	for i := range n {
		b.WriteString(strings.Replace(event(0, fmt.Sprint(first+i)), "T00:00:00.", time.Unix(int64(first+i), 0).UTC().Format("T15:04:05."), 1))
	}
	return b.String()
}

func TestEventsThatAreTooLateAreSkipped(t *testing.T) {
	paths := write(t, many(2, maxHeld+1)+many(1, 1)+many(5000, 2))
	got, l := names(t, Options{Paths: paths})
	if len(got) != maxHeld+3 || got[0] != "2" {
		t.Errorf("%d events, the first is %v", len(got), got[0])
	}
	want := fmt.Sprintf("event is older than the one before it, too much so to be put in order, and was skipped (1): %s:%d", paths[0], maxHeld+2)
	if all := l.Findings(); len(all) != 1 || all[0].String() != want {
		t.Errorf("findings are %v, want %s", all, want)
	}
}

func TestWhatAWindowHoldsIsBounded(t *testing.T) {
	large := Event{Request: make([]byte, 1<<20)}
	var w window
	for range 1000 {
		if w.full() {
			w.drop()
		}
		w.add(&large, 0)
	}
	if w.bytes > maxHeldBytes+2<<20 || len(w.held) > maxHeldBytes>>20 {
		t.Errorf("%d events with %d bytes are held", len(w.held), w.bytes)
	}
}

func TestOverlappingFilesAreReadOnce(t *testing.T) {
	got, l := names(t, Options{Paths: write(t, many(1, 6), many(4, 6))})
	if want := "1 2 3 4 5 6 7 8 9"; strings.Join(got, " ") != want {
		t.Errorf("got %v, want %s", got, want)
	}
	if all := l.Findings(); len(all) != 1 || all[0].Count != 3 {
		t.Errorf("findings are %v", all)
	}
}

func TestAFileIsGivenOnce(t *testing.T) {
	paths := write(t, event(1, "a"), event(2, "b"))
	link := filepath.Join(t.TempDir(), "link.log")
	if err := os.Symlink(paths[0], link); err != nil {
		t.Fatal(err)
	}
	for _, again := range []string{paths[0], link} {
		_, err := Open(context.Background(), Options{Paths: append(paths, again)})
		if want := again + " is the same file as " + paths[0] + ": give each file once"; err == nil || err.Error() != want {
			t.Errorf("error is %v, want %s", err, want)
		}
	}
}

func TestEventsOnTheirWayAreNotWanted(t *testing.T) {
	text := strings.Replace(event(1, "a"), "ResponseComplete", "RequestReceived", 1) + event(1, "b")
	if got, _ := names(t, Options{Paths: write(t, text)}); strings.Join(got, " ") != "b" {
		t.Errorf("got %v", got)
	}
}

func TestEvent(t *testing.T) {
	text := `{"kind":"Event","apiVersion":"audit.k8s.io/v1","level":"RequestResponse","stage":"ResponseComplete","requestURI":"/x?dryRun=All","verb":"patch",` +
		`"impersonatedUser":{"username":"b"},"user":{"username":"a"},"objectRef":{"resource":"leases","namespace":"ns","name":"l","apiGroup":"g","subresource":"s"},` +
		`"responseStatus":{"code":403,"message":"no \"way\""},"requestObject":{"a":1},"responseObject":null,"stageTimestamp":"2026-01-01T00:00:00.5Z","annotations":{"k":"v"}}` + "\n"
	l, err := Open(context.Background(), Options{Paths: write(t, text), Resources: []string{"leases"}})
	if err != nil {
		t.Fatal(err)
	}
	e, err := l.Next()
	if err != nil {
		t.Fatal(err)
	}
	want := &Event{
		Origin: Origin{l.running[0].name, 1}, Level: LevelRequestResponse, Time: time.Date(2026, 1, 1, 0, 0, 0, 500_000_000, time.UTC),
		Verb: "patch", Ref: Ref{"g", "leases", "s", "ns", "l"}, DryRun: true, User: []byte(`{"username":"b"}`), Code: 403, Message: `no "way"`,
		Request: []byte(`{"a":1}`), Annotations: []byte(`{"k":"v"}`),
	}
	if diff := cmp.Diff(want, e); diff != "" {
		t.Errorf("event (-want +got):\n%s", diff)
	}
}

func TestOpenNamesWhatItCannotRead(t *testing.T) {
	_, err := Open(context.Background(), Options{Paths: []string{"/nonexistent/audit.log", t.TempDir()}})
	if err == nil || !strings.Contains(err.Error(), "/nonexistent/audit.log") || !strings.Contains(err.Error(), "is a directory: give the files in it") {
		t.Errorf("error is %v", err)
	}
}

func TestReadingEndsWithItsContext(t *testing.T) {
	ctx, cancel := context.WithCancel(context.Background())
	l, err := Open(ctx, Options{Paths: write(t, strings.Repeat(event(1, "a"), 5000)), Resources: []string{"leases"}})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := l.Next(); err != nil {
		t.Fatal(err)
	}
	cancel()
	if _, err := l.Next(); !errors.Is(err, context.Canceled) {
		t.Errorf("error is %v", err)
	}
}

// FuzzLog: whatever is read, it ends in events or findings, and every line is
// counted.
func FuzzLog(f *testing.F) {
	whole := event(1, "a")
	for _, seed := range []string{
		"", "\n", "{", "{}", "null\n", "[]\n", `"leases"`, whole, whole[:200], whole + whole[:150], foreign + whole, zipped(whole), zipped(whole)[:40],
		strings.Replace(whole, `"verb"`, `"ve\u0072b"`, 1), strings.Replace(whole, `"ns"`, `"\ud800"`, 1), strings.Replace(whole, `"u"`, "\"\xff\"", 1),
		`{"objectRef":{"resource":"leases"},"stageTimestamp":""}`, `{"user":null,"objectRef":null,"leases":"leases"}`,
		strings.Replace(whole, "200", "1e400", 1), "\x1f\x8b", "\x1f\x8b\x08\x00",
	} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, text []byte) {
		l, err := Open(context.Background(), Options{Paths: []string{Stdin}, Stdin: bytes.NewReader(text), Resources: []string{"leases", "pods"}})
		if err != nil {
			t.Fatal(err)
		}
		events := int64(0)
		for {
			e, err := l.Next()
			if err != nil {
				break
			}
			events++
			if e.Ref.Resource != "leases" && e.Ref.Resource != "pods" || e.Time.IsZero() || e.Origin.Line == 0 {
				t.Errorf("%q gives the event %+v", text, e)
			}
		}
		if stats := l.Stats(); stats.Events != events || stats.Lines < events {
			t.Errorf("%d events, and stats %+v", events, stats)
		}
		if !bytes.HasPrefix(text, []byte("\x1f\x8b")) {
			checkCounts(t, text, l)
		}
	})
}

// checkCounts checks that each line of a plain log is counted once: as of use,
// as an event that is not of use, as something else that is none, or in a
// finding.
func checkCounts(t *testing.T, text []byte, l *Log) {
	t.Helper()
	lines := int64(bytes.Count(text, []byte("\n")))
	if len(text) > 0 && text[len(text)-1] != '\n' {
		lines++
	}
	var unreadable, unordered int64
	for _, f := range l.Findings() {
		switch {
		case strings.HasPrefix(f.What, "event has an unknown field"), strings.HasPrefix(f.What, "something else"):
		case strings.HasPrefix(f.What, "event "):
			unordered += f.Count
		default:
			unreadable += f.Count
		}
	}
	stats := l.Stats()
	if rest := lines - unreadable - neither(text); stats.Lines != lines || stats.Audit != rest || stats.Events+unordered > stats.Audit {
		t.Errorf("%q: %d lines, %d unreadable, %d out of order, and stats %+v", text, lines, unreadable, unordered, stats)
	}
}

// neither counts the lines that are blank, or objects that are no events, about
// no resource that is wanted.
func neither(text []byte) (n int64) {
	for part := range bytes.Lines(text) {
		part = bytes.TrimSpace(part)
		head := part[:min(len(part), 256)]
		wanted := bytes.Contains(part, []byte(`leases"`)) || bytes.Contains(part, []byte(`pods"`))
		object := bytes.HasPrefix(part, []byte("{")) && bytes.HasSuffix(part, []byte("}"))
		foreign := !bytes.Contains(head, []byte("audit.k8s.io/")) && !bytes.Contains(head, []byte(`"EventList"`))
		if len(part) == 0 || !wanted && object && foreign {
			n++
		}
	}
	return n
}
