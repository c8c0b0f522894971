package documents

import (
	"errors"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"time"

	kjson "sigs.k8s.io/json"
)

// locate adds to a problem the field whose value is no time: the decoder only
// tells the value.
func locate(problem, cause error, data []byte) error {
	var noTime *time.ParseError
	if !errors.As(cause, &noTime) {
		return problem
	}
	var content any
	if err := kjson.UnmarshalCaseSensitivePreserveInts(data, &content); err != nil {
		return problem
	}
	path, ok := find(content, noTime.Value)
	if !ok {
		return problem
	}
	return fmt.Errorf("%s: %q is not a time such as 2026-01-31T15:04:05.000000Z", path, noTime.Value)
}

// find returns the path of the first string with that value.
func find(content any, value string) (path string, ok bool) {
	switch c := content.(type) {
	case string:
		return "", c == value
	case map[string]any:
		for _, key := range slices.Sorted(maps.Keys(c)) {
			if below, ok := find(c[key], value); ok {
				return join(key, below), true
			}
		}
	case []any:
		for i := range c {
			if below, ok := find(c[i], value); ok {
				return join("["+strconv.Itoa(i)+"]", below), true
			}
		}
	}
	return "", false
}

func join(key, below string) string {
	switch {
	case below == "":
		return key
	case below[0] == '[':
		return key + below
	}
	return key + "." + below
}
