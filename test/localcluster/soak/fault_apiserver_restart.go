package main

import "github.com/leasewarden/leasewarden/test/localcluster/localcluster"

// restartAPIServer has kube-apiserver end in order, and starts it again.
var restartAPIServer = &fault{
	name: "kube-apiserver: restarted", election: true, blind: true, outage: true, bound: afterOutage,
	inject: restarted(localcluster.APIServer),
}
