// Package history derives the terms of a Lease from the writes that an API
// server answered: who held it, from when to when, why each term ended, and how
// long nobody is known to have led.
//
// It goes by the API server's clock alone. Other than package terms, which
// watches a Lease, it knows of every single write.
package history
