package mailbox

import "msgexchange/internal/config"

// From is the part of a configuration that says how the mailbox is used.
func From(c config.Config) Config {
	return Config{
		DSN:             c.Mailbox.DSN.Reveal(),
		Zone:            c.Mailbox.Zone,
		Table:           c.Mailbox.Table,
		ColumnID:        c.Mailbox.ColumnID,
		ColumnText:      c.Mailbox.ColumnText,
		ColumnReceived:  c.Mailbox.ColumnReceived,
		ColumnProcessed: c.Mailbox.ColumnProcessed,
		ColumnStatus:    c.Mailbox.ColumnStatus,
		ProcessedValue:  c.Mailbox.ProcessedValue,
		MarkStatus:      c.Mailbox.MarkStatus,
		MaxTextBytes:    c.Mailbox.MaxTextBytes,
		PageBytes:       c.Pipeline.PageBytes,
		ConnectTimeout:  c.Mailbox.ConnectTimeout,
		ReadTimeout:     c.Mailbox.ReadTimeout,
		WriteTimeout:    c.Mailbox.WriteTimeout,
		LockWait:        c.Mailbox.LockWait,
		ConnMaxLifetime: c.Mailbox.ConnMaxLifetime,
		Shadow:          c.Shadow,

		AllowReplicating: c.Mailbox.AllowReplicating,
	}
}
