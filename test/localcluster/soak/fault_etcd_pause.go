package main

import "github.com/leasewarden/leasewarden/test/localcluster/localcluster"

// pauseEtcd has etcd hang.
var pauseEtcd = &fault{
	name: "etcd: paused", hold: away, election: true, blind: true, outage: true, bound: afterOutage,
	inject: paused(localcluster.Etcd),
}
