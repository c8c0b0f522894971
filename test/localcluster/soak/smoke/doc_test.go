// Package smoke soaks for a minute, so that the program that soaks for half an hour
// is known to work.
package smoke
