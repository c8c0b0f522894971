package main

import "github.com/leasewarden/leasewarden/test/localcluster/localcluster"

// killAPIServer kills kube-apiserver.
var killAPIServer = &fault{
	name: "kube-apiserver: killed", hold: away, election: true, blind: true, outage: true, bound: afterOutage,
	inject: killed(localcluster.APIServer),
}
