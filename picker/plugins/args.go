package plugins

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strings"

	"github.com/leasewarden/leasewarden/picker"
)

// DecodeArgs reads a plugin's arguments, nil if there are none, into out, a
// pointer to a struct. A field that out does not have, a value of the wrong
// type, and anything after the object are errors that name the field.
func DecodeArgs(args json.RawMessage, out any) error {
	if len(args) == 0 || bytes.Equal(bytes.TrimSpace(args), []byte("null")) {
		return nil
	}
	d := json.NewDecoder(bytes.NewReader(args))
	d.DisallowUnknownFields()
	if err := d.Decode(out); err != nil {
		return explain(err)
	}
	if _, err := d.Token(); !errors.Is(err, io.EOF) {
		return errors.New("must be one JSON object")
	}
	return nil
}

// explain says in the words of a policy what encoding/json says in those of Go.
func explain(err error) error {
	var wrongType *json.UnmarshalTypeError
	switch {
	case errors.As(err, &wrongType) && wrongType.Field != "":
		return fmt.Errorf("field %q has the wrong type: %s", wrongType.Field, wrongType.Value)
	case errors.As(err, &wrongType):
		return fmt.Errorf("must be an object, has the wrong type: %s", wrongType.Value)
	case errors.Is(err, io.ErrUnexpectedEOF), errors.Is(err, io.EOF):
		return errors.New("is not complete JSON")
	}
	return errors.New(strings.TrimPrefix(err.Error(), "json: "))
}

// noArgs is the arguments of a plugin that has none.
type noArgs struct{}

func newFilter(f picker.Filter) func(json.RawMessage) (picker.Filter, error) {
	return func(args json.RawMessage) (picker.Filter, error) {
		return f, DecodeArgs(args, &noArgs{})
	}
}

func newScore(s picker.Score) func(json.RawMessage) (picker.Score, error) {
	return func(args json.RawMessage) (picker.Score, error) {
		return s, DecodeArgs(args, &noArgs{})
	}
}
