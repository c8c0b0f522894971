// Package simulatereport shows what came of a simulation: to people as a table
// or as one HTML page, to programs as JSON.
package simulatereport
