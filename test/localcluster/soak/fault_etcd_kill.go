package main

import "github.com/leasewarden/leasewarden/test/localcluster/localcluster"

// killEtcd kills etcd.
var killEtcd = &fault{
	name: "etcd: killed", hold: away, election: true, blind: true, outage: true, bound: afterOutage,
	inject: killed(localcluster.Etcd),
}
