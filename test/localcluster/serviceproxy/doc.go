// Package serviceproxy plays kube-proxy in a local cluster: it listens on the
// cluster IP and ports of each Service and passes TCP connections on to the
// Service's ready pods, one after the other. The cluster IPs have to be
// loopback addresses.
//
// It looks at pods and not at EndpointSlices, since the API server admits no
// loopback addresses in those. Headless Services, node ports, UDP and session
// affinity are not there.
package serviceproxy
