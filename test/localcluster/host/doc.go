// Package host tells of the machine that something was measured on. It measures
// nothing, and what it cannot read it calls "unknown".
package host
