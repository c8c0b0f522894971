package auditlog

import (
	"bytes"
	stdjson "encoding/json"
	"errors"
	"fmt"
	"strconv"

	"github.com/go-json-experiment/json/jsontext"
)

var (
	// errUnwanted ends the decoding of an event that is about something else.
	errUnwanted = errors.New("is not wanted")
	// errForeign is a line of JSON that is no event of audit.k8s.io/v1.
	errForeign = errors.New("is not an Event of audit.k8s.io/v1")
	// errList is a line that has many events.
	errList = errors.New("is an EventList: " + oneEventALine)
)

// decoder decodes lines into events. It walks each line once, and leaves what
// is not needed of it as it is.
type decoder struct {
	// wants says whether events about an object are needed at all.
	wants func(Ref) bool
	// unknown are the fields of the last line that an Event does not have.
	unknown []string
	// auditID is that of the last line, as JSON. Nil: it has none.
	auditID []byte

	json   *jsontext.Decoder
	source bytes.Buffer
	line   []byte
	names  interned
}

func newDecoder(wants func(Ref) bool) *decoder {
	return &decoder{wants: wants, json: new(jsontext.Decoder), names: interned{}}
}

// decode returns errUnwanted for an event that is not needed, also for one that
// is only on its way.
func (d *decoder) decode(text []byte, e *Event) error {
	d.unknown, d.auditID = d.unknown[:0], nil
	d.line, d.source = text, *bytes.NewBuffer(text)
	d.json.Reset(&d.source, jsontext.AllowDuplicateNames(true), jsontext.AllowInvalidUTF8(true))
	w := walk{decoder: d, event: e}
	if err := d.object(w.field); err != nil {
		return err
	}
	if _, err := d.json.ReadToken(); err == nil {
		return errors.New("has more than one JSON value")
	}
	switch {
	case w.kind == "EventList":
		return errList
	case w.kind != "Event" || w.version != "audit.k8s.io/v1":
		return errForeign
	case w.stage != "ResponseComplete" || !w.referred:
		return errUnwanted
	case e.Ref.Name == "" && e.Verb != "create" && e.Verb != "deletecollection":
		return errUnwanted // a list
	case e.Time.IsZero():
		return errors.New("has no stageTimestamp")
	}
	return nil
}

// walk is the way through one event.
type walk struct {
	*decoder
	event                *Event
	kind, version, stage string
	referred             bool
}

// field takes up one field of the event.
func (w *walk) field(name string) error {
	e := w.event
	switch name {
	case "kind":
		return w.text(&w.kind)
	case "apiVersion":
		return w.text(&w.version)
	case "level":
		return w.text((*string)(&e.Level))
	case "stage":
		return w.text(&w.stage)
	case "verb":
		return w.text(&e.Verb)
	case "user":
		return w.user()
	case "impersonatedUser":
		return w.raw(&e.User)
	case "objectRef":
		return w.reference()
	case "responseStatus":
		return w.object(w.status)
	case "requestObject":
		return w.raw(&e.Request)
	case "responseObject":
		return w.raw(&e.Response)
	case "requestURI":
		return w.uri()
	case "stageTimestamp":
		return w.time()
	case "annotations":
		return w.raw(&e.Annotations)
	case "auditID":
		return w.raw((*stdjson.RawMessage)(&w.decoder.auditID))
	case "sourceIPs", "userAgent", "requestReceivedTimestamp", "authenticationMetadata", "metadata":
	default:
		w.decoder.unknown = append(w.decoder.unknown, name)
	}
	return w.json.SkipValue()
}

// user does not replace the impersonated one, which may stand before it.
func (w *walk) user() error {
	if w.event.User != nil {
		return w.json.SkipValue()
	}
	return w.raw(&w.event.User)
}

// uri says what the query tells that no other field does.
func (w *walk) uri() error {
	value, err := w.json.ReadValue()
	w.event.DryRun = bytes.Contains(value, []byte("dryRun="))
	return err
}

func (w *walk) reference() error {
	ref := &w.event.Ref
	err := w.object(func(name string) error {
		switch name {
		case "apiGroup":
			return w.text(&ref.Group)
		case "resource":
			return w.text(&ref.Resource)
		case "subresource":
			return w.text(&ref.Subresource)
		case "namespace":
			return w.text(&ref.Namespace)
		case "name":
			return w.text(&ref.Name)
		}
		return w.json.SkipValue()
	})
	if err == nil && !w.wants(*ref) {
		return errUnwanted
	}
	w.referred = true
	return err
}

func (w *walk) status(name string) error {
	switch name {
	case "code":
		value, err := w.value()
		if err != nil {
			return err
		}
		w.event.Code, err = strconv.Atoi(string(value))
		return err
	case "message":
		return w.text(&w.event.Message)
	}
	return w.json.SkipValue()
}

func (w *walk) time() error {
	value, err := w.value()
	if err != nil {
		return err
	}
	if len(value) < 2 || value[0] != '"' {
		return fmt.Errorf("stageTimestamp %s is not a time", value)
	}
	return w.event.Time.UnmarshalText(value[1 : len(value)-1])
}

// object calls field with the name of each field, whose value it must read.
func (d *decoder) object(field func(name string) error) error {
	if kind := d.json.PeekKind(); kind == 'n' {
		return d.json.SkipValue()
	}
	open, err := d.json.ReadToken()
	if err != nil {
		return err
	}
	if open.Kind() != '{' {
		return fmt.Errorf("has a JSON %s where an object belongs", open.Kind())
	}
	for d.json.PeekKind() != '}' {
		name, err := d.json.ReadValue()
		if err != nil {
			return err
		}
		if err := field(d.names.get(name)); err != nil {
			return err
		}
	}
	_, err = d.json.ReadToken()
	return err
}

// value is the next value as it stands in the line, where it stays valid.
func (d *decoder) value() ([]byte, error) {
	value, err := d.json.ReadValue()
	if err != nil {
		return nil, err
	}
	end := int(d.json.InputOffset())
	return d.line[end-len(value) : end : end], nil
}

func (d *decoder) raw(to *stdjson.RawMessage) error {
	value, err := d.value()
	if err == nil && string(value) != "null" {
		*to = value
	}
	return err
}

func (d *decoder) text(to *string) error {
	value, err := d.json.ReadValue()
	switch {
	case err != nil:
		return err
	case value.Kind() == 'n':
		return nil
	case value.Kind() != '"':
		return fmt.Errorf("has a JSON %s where a text belongs", value.Kind())
	}
	*to = d.names.get(value)
	return nil
}
