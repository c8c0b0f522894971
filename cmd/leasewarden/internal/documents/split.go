package documents

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"iter"

	utilyaml "k8s.io/apimachinery/pkg/util/yaml"
	"sigs.k8s.io/yaml"
)

// document is one document of a stream, in JSON.
type document struct {
	json []byte
	// yaml is the text that json was made of. Nil: it was JSON.
	yaml []byte
}

// split yields the documents of a stream that are not empty: YAML documents
// between lines of three dashes, or JSON objects one after the other. For one
// that cannot be parsed it yields the error in its place.
func split(stream io.Reader) iter.Seq2[document, error] {
	return func(yield func(document, error) bool) {
		chunks := utilyaml.NewYAMLReader(bufio.NewReader(stream))
		for {
			chunk, err := chunks.Read()
			if err == io.EOF {
				return
			}
			if err != nil {
				yield(document{}, err)
				return
			}
			if !splitChunk(chunk, yield) {
				return
			}
		}
	}
}

func splitChunk(chunk []byte, yield func(document, error) bool) bool {
	if utilyaml.IsJSONBuffer(chunk) {
		return splitJSON(chunk, yield)
	}
	return splitYAML(chunk, yield)
}

func splitYAML(chunk []byte, yield func(document, error) bool) bool {
	converted, err := yaml.YAMLToJSON(chunk)
	if err != nil {
		return yield(document{}, err)
	}
	if bytes.Equal(bytes.TrimSpace(converted), []byte("null")) {
		return true
	}
	return yield(document{json: converted, yaml: chunk}, nil)
}

// splitJSON gives up at the first error: where the next object starts is then a
// guess.
func splitJSON(chunk []byte, yield func(document, error) bool) bool {
	d := json.NewDecoder(bytes.NewReader(chunk))
	for first := true; ; first = false {
		var object json.RawMessage
		err := d.Decode(&object)
		switch {
		case errors.Is(err, io.EOF):
			return true
		case err != nil && first && isYAML(chunk):
			// YAML may begin with a brace, too.
			return splitYAML(chunk, yield)
		case err != nil:
			return yield(document{}, fmt.Errorf("is not JSON: %w", err))
		case !yield(document{json: object}, nil):
			return false
		}
	}
}

func isYAML(chunk []byte) bool {
	_, err := yaml.YAMLToJSON(chunk)
	return err == nil
}

// checkDuplicates refuses a YAML document that gives one key twice: which of
// the two counts is nothing to guess in a policy.
func (d document) checkDuplicates() error {
	if d.yaml == nil {
		return nil
	}
	_, err := yaml.YAMLToJSONStrict(d.yaml)
	return err
}
