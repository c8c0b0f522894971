// Package elector is an ordinary client-go elector with nothing to lead. Tests
// have it compete in pods, and outside of them.
package elector
