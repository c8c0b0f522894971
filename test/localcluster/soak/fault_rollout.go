package main

import "context"

// rollout replaces the Pods of all electors at once, the leaders first.
var rollout = &fault{
	name: "rollout of all, leaders first",
	inject: func(ctx context.Context, s *scene) (func(context.Context) error, error) {
		for _, c := range contests {
			if err := s.roll(ctx, c, true); err != nil {
				return nil, err
			}
		}
		return nil, nil
	},
}
