package candidates

import (
	"crypto/sha256"
	"encoding/hex"
	"strings"
	"time"

	"k8s.io/apimachinery/pkg/types"
)

const (
	// RegistrationTTL is how long an identity that nobody registered stays a
	// candidate after its last attempt. client-go's electors try every few
	// seconds, slow ones every 26 s; a process that was silent for 10 minutes
	// is gone.
	RegistrationTTL = 10 * time.Minute
	// MaxRegistrations is how many such identities one Lease can have. Further
	// ones are refused until others expire, so that made-up identities cannot
	// push out real ones.
	MaxRegistrations = 256
	// MaxNamespaceRegistrations is how many the Leases of one namespace can have
	// together. Whoever may make Leases under names that a policy selects by a
	// star could else have any number of Candidates written.
	MaxNamespaceRegistrations = 1024
)

// registration is an identity that nobody registered.
type registration struct {
	// name is that of the Candidate that stands, or will stand, for it.
	name     string
	identity string
	node     string
	// since is when it first tried, last when it last did.
	since, last time.Time
	// fresh says that it had no object when it was remembered.
	fresh bool
}

func (r registration) expired(now time.Time) bool { return now.Sub(r.last) >= RegistrationTTL }

const (
	namePrefixLength = 40
	nameHashLength   = 10
)

// registrationName is the name of the Candidate for an identity: what it can
// keep of the identity, and a hash of the Lease and the identity, so that all
// replicas give it the same name and no two of them share one.
func registrationName(lease types.NamespacedName, identity string) string {
	sum := sha256.Sum256([]byte(lease.Name + "\x00" + identity))
	hash := hex.EncodeToString(sum[:])[:nameHashLength]
	prefix := strings.Map(nameRune, strings.ToLower(identity))
	if len(prefix) > namePrefixLength {
		prefix = prefix[:namePrefixLength]
	}
	prefix = strings.Trim(prefix, "-")
	if prefix == "" {
		return "candidate-" + hash
	}
	return prefix + "-" + hash
}

// nameRune replaces what the name of an object cannot hold.
func nameRune(r rune) rune {
	if r >= 'a' && r <= 'z' || r >= '0' && r <= '9' {
		return r
	}
	return '-'
}
