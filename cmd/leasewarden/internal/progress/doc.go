// Package progress shows somebody who waits what is waited for, and for how long.
package progress
