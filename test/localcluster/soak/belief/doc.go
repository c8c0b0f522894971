// Package belief is what electors believe of themselves: from the lines of their
// logs to the times in which each of them took itself for the leader, and from
// those to what is a violation. It reads no Lease, and no clock.
package belief
