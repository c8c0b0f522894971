package production

import (
	"bufio"
	"encoding/json"
	"net/http"
	"os"
	"strings"

	"github.com/leasewarden/leasewarden/test/localcluster/installation"
)

// account is who Leasewarden is to the API server.
const account = "system:serviceaccount:" + installation.Namespace + ":leasewarden"

// auditPolicy records what Leasewarden asks of the API server. A watch is
// complete when it ends, and is recorded when it begins.
const auditPolicy = `
apiVersion: audit.k8s.io/v1
kind: Policy
omitStages: [RequestReceived]
rules:
- level: Metadata
  users: ["` + account + `"]
- level: None
`

// request is one that Leasewarden made.
type request struct {
	verb, group, resource, namespace, name string
	code                                   int
	forbidden                              bool
	uri                                    string
}

// event is what the test reads of an audit event.
type event struct {
	Verb, RequestURI string
	ObjectRef        *struct{ APIGroup, Resource, Subresource, Namespace, Name string }
	ResponseStatus   struct{ Code int }
	Annotations      map[string]string
}

// requests are all that Leasewarden has made. The line that is being written is
// left for the next time.
func (s *site) requests() ([]request, error) {
	file, err := os.Open(s.AuditLog())
	if err != nil {
		return nil, err
	}
	defer file.Close()
	var all []request
	lines := bufio.NewReader(file)
	for {
		line, err := lines.ReadBytes('\n')
		if err != nil {
			return all, nil
		}
		var e event
		if err := json.Unmarshal(line, &e); err != nil {
			return nil, err
		}
		if e.ObjectRef == nil { // such as /version
			continue
		}
		o := e.ObjectRef
		q := request{
			verb: e.Verb, group: o.APIGroup, resource: strings.TrimSuffix(o.Resource+"/"+o.Subresource, "/"), namespace: o.Namespace, name: o.Name,
			code: e.ResponseStatus.Code, forbidden: e.Annotations["authorization.k8s.io/decision"] == "forbid", uri: e.RequestURI,
		}
		all = append(all, q)
		if q.verb == "patch" && q.code == http.StatusCreated {
			// Whoever creates by an apply needs the right to create, too.
			q.verb = "create"
			all = append(all, q)
		}
	}
}
