package documents

import (
	"strconv"
)

// Origin is where an object was read.
type Origin struct {
	// File is the path as it was given, or "standard input".
	File string
	// Document counts the documents of the file that are not empty, from 1.
	Document int
	// Item counts the objects of a list, from 1. 0: the document is no list.
	Item int
}

// String is how messages name the origin: "policy.yaml: document 2".
func (o Origin) String() string {
	s := o.File + ": document " + strconv.Itoa(o.Document)
	if o.Item > 0 {
		s += ", item " + strconv.Itoa(o.Item)
	}
	return s
}
