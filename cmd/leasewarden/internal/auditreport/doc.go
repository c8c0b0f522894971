// Package auditreport shows the report of an audit: to people as a table or as
// one HTML page, to programs as JSON.
//
// What comes from a log may be anything: nothing of it reaches a terminal as a
// command, or a page as markup.
package auditreport
