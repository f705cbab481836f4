// Package db embeds the migrations: all that holds data, run once and in order.
package db

import "embed"

// Migrations holds migrations/*.sql as dbmate reads them.
//
//go:embed migrations/*.sql
var Migrations embed.FS
