package auditlog

import (
	"encoding/json"
	"fmt"
	"time"
)

// Origin is where an event was read.
type Origin struct {
	// File is the path as it was given, or "standard input".
	File string
	// Line counts from 1. 0: none of it in particular.
	Line int64
}

// String is how messages name the origin: "audit.log:12".
func (o Origin) String() string {
	if o.Line == 0 {
		return o.File
	}
	return fmt.Sprintf("%s:%d", o.File, o.Line)
}

// Ref is the object that a request was about. Name is empty for one that is
// created without a name, and for a collection that is deleted.
type Ref struct {
	Group, Resource, Subresource string
	Namespace, Name              string
}

// Level is how much the audit policy had the API server record.
type Level string

// The levels of events that are of use.
const (
	LevelMetadata        Level = "Metadata"
	LevelRequest         Level = "Request"
	LevelRequestResponse Level = "RequestResponse"
)

// Event is a request that was answered. What it points to is only valid until
// the next event is read.
type Event struct {
	Origin Origin
	Level  Level
	// Time is when it was answered, by the API server's clock.
	Time time.Time
	Verb string
	Ref  Ref
	// DryRun says that nothing was stored, whatever the answer.
	DryRun bool
	// User is the authentication/v1 UserInfo of who asked, the impersonated one
	// if there is one.
	User json.RawMessage
	// Code is the HTTP status of the answer, Message its text if it was an
	// error.
	Code    int
	Message string
	// Request and Response are the objects. Nil: not recorded.
	Request, Response json.RawMessage
	// Annotations are those of the event, among them those of webhooks.
	Annotations json.RawMessage
}

// Succeeded reports whether the request was carried out.
func (e *Event) Succeeded() bool { return e.Code >= 200 && e.Code < 300 }
