package main

// contender is a way to elect a leader.
type contender struct {
	name string
	// key is the beginning of the names of its Namespaces.
	key string
	// coordinated electors leave the choice to the API server.
	coordinated bool
	// governed Leases have a policy of Leasewarden.
	governed bool
}

// contenders are in the order of the table's columns.
var contenders = []*contender{
	{name: "client-go", key: "plain"},
	{name: "CLE", key: "cle", coordinated: true},
	{name: "Leasewarden", key: "warden", governed: true},
}
