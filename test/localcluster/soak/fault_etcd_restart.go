package main

import "github.com/leasewarden/leasewarden/test/localcluster/localcluster"

// restartEtcd has etcd end in order, and starts it again.
var restartEtcd = &fault{
	name: "etcd: restarted", election: true, blind: true, outage: true, bound: afterOutage,
	inject: restarted(localcluster.Etcd),
}
