package main

import "github.com/leasewarden/leasewarden/test/localcluster/localcluster"

// pauseAPIServer has kube-apiserver hang.
var pauseAPIServer = &fault{
	name: "kube-apiserver: paused", hold: away, election: true, blind: true, outage: true, bound: afterOutage,
	inject: paused(localcluster.APIServer),
}
