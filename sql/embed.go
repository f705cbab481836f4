// Package sql embeds functions, views and grants: all that is applied again
// whenever a file differs.
package sql

import "embed"

// Files holds install.sql, the load order, and every file it names.
//
//go:embed install.sql */*.sql
var Files embed.FS
