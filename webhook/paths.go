package webhook

// Paths of the handlers on the webhook server.
const (
	ValidateLeasePath  = "/validate-lease"
	MutateLeasePath    = "/mutate-lease"
	ValidatePolicyPath = "/validate-policy"
)
