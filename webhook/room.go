package webhook

import (
	"context"
	"time"
)

// Bounds of the reviews that a handler has in hand at once. Whoever reaches the
// port may send as much as it likes; what is beyond waits, and then is turned
// away. Reviews of ordinary size have room of their own, which those of huge
// Leases cannot take. All together need about 100 MiB, for three handlers.
const (
	// smallReview is the size, in bytes, of a review of ordinary size. One of a
	// Lease with its old self has about 4 KiB.
	smallReview = 64 << 10
	maxSmall    = 256
	maxLarge    = 4
	// roomTimeout bounds how long a review waits for room. The API server gives
	// up after 1 s.
	roomTimeout = time.Second
)

// room is what there is for reviews.
type room struct{ small, large chan struct{} }

func newRoom() *room {
	return &room{small: make(chan struct{}, maxSmall), large: make(chan struct{}, maxLarge)}
}

// take waits for room for a body of that length, -1 if it is not known. The
// caller must leave when it is done with the body, unless ok is false.
func (r *room) take(ctx context.Context, length int64) (leave func(), ok bool) {
	places := r.large
	if 0 <= length && length <= smallReview {
		places = r.small
	}
	leave = func() { <-places }
	select {
	case places <- struct{}{}:
		return leave, true
	default:
	}
	ctx, cancel := context.WithTimeout(ctx, roomTimeout)
	defer cancel()
	select {
	case places <- struct{}{}:
		return leave, true
	case <-ctx.Done():
		return nil, false
	}
}
