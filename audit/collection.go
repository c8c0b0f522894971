package audit

import (
	"slices"

	kjson "sigs.k8s.io/json"

	"github.com/leasewarden/leasewarden/audit/auditlog"
)

// takeCollection takes up that Leases of a namespace were deleted with one
// request. Which ones, only the answer says.
func (a *Audit) takeCollection(e *auditlog.Event) {
	if e.Verb != "deletecollection" || !e.Succeeded() || e.DryRun {
		return
	}
	names, known := namesIn(e.Response)
	if !known {
		a.collections++
	}
	for key, l := range a.leases {
		if key.Namespace != e.Ref.Namespace || known && !slices.Contains(names, key.Name) {
			continue
		}
		l.settle(e.Time)
		if known {
			l.delete(e.Time)
		} else {
			l.unknown(e.Time)
		}
	}
}

// namesIn are the names of the objects in a list. known is false for what is
// none, such as the Status that answers when nothing is to be shown.
func namesIn(raw []byte) (names []string, known bool) {
	var list struct {
		Items []struct {
			Metadata struct {
				Name string `json:"name"`
			} `json:"metadata"`
		} `json:"items"`
	}
	if raw == nil || kjson.UnmarshalCaseSensitivePreserveInts(raw, &list) != nil || list.Items == nil {
		return nil, false
	}
	for i := range list.Items {
		names = append(names, list.Items[i].Metadata.Name)
	}
	return names, true
}
