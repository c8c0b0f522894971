package main

import "context"

// nothing is for comparison: only the rollout that goes on with every fault.
var nothing = &fault{
	name:   "nothing but a rollout of one",
	inject: func(context.Context, *scene) (func(context.Context) error, error) { return nil, nil },
}
