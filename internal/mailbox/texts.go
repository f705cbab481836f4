package mailbox

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"slices"
	"strconv"

	"github.com/go-sql-driver/mysql"
)

// packetTooLarge is the number of the error about max_allowed_packet.
const packetTooLarge = 1153

// Text is the text of a row. Body is nil when the text is NULL or Oversized, and empty but not nil when it is empty.
type Text struct {
	ID        int64
	Body      []byte // UTF-8; of a Binary text whatever its writer wrote
	Binary    bool   // the column has no character set: what the text says of its encoding counts
	Null      bool
	Oversized bool  // longer than Config.MaxTextBytes or than a packet may be, and not fetched
	Bytes     int64 // length of the text
}

// Texts returns the texts of the rows that are there; a missing id is absent from the map. It asks for lengths first, so
// that no query fetches more than Config.PageBytes, but for a single text longer than that.
func (m *Mailbox) Texts(ctx context.Context, ids []int64) (map[int64]Text, error) {
	var positions []Position
	for page := range slices.Chunk(sortedUnique(ids), idsPerQuery) {
		marks, args := placeholders(page)
		query := fmt.Sprintf("SELECT %s, OCTET_LENGTH(%s) FROM %s WHERE %s IN (%s)", m.id, m.text, m.table, m.id, marks)
		lengths, err := collect(ctx, m.db, func(row *sql.Rows) (p Position, err error) {
			var bytes sql.NullInt64
			err = row.Scan(&p.ID, &bytes)
			p.Bytes = bytes.Int64
			return p, err
		}, query, args...)
		if err != nil {
			return nil, fmt.Errorf("read lengths of mailbox texts %d to %d: %w", page[0], page[len(page)-1], err)
		}
		positions = append(positions, lengths...)
	}
	return m.TextsOf(ctx, positions)
}

// TextsOf does the same for rows whose lengths are known. The lengths only share out the queries: whether a text is
// oversized is judged by the row itself.
func (m *Mailbox) TextsOf(ctx context.Context, positions []Position) (map[int64]Text, error) {
	if err := m.trusted(); err != nil {
		return nil, fmt.Errorf("read mailbox texts: %w", err)
	}
	texts := make(map[int64]Text, len(positions))
	for _, page := range m.pages(positions) {
		if err := m.fetch(ctx, page, texts); err != nil {
			return nil, fmt.Errorf("read mailbox texts %d to %d: %w", page[0], page[len(page)-1], err)
		}
	}
	return texts, nil
}

// fetch adds the texts of a page. A packet that is too large for something on the way (a proxy, a server) fails a whole
// query: then texts go one by one, and the one that does not come through counts as oversized.
func (m *Mailbox) fetch(ctx context.Context, page []int64, texts map[int64]Text) error {
	err := m.query(ctx, page, "CASE WHEN OCTET_LENGTH("+m.text+") <= "+strconv.FormatInt(m.cfg.MaxTextBytes, 10)+" THEN "+m.text+" END", texts)
	if e, ok := errors.AsType[*mysql.MySQLError](err); !ok || e.Number != packetTooLarge {
		return err
	}
	if len(page) == 1 {
		return m.query(ctx, page, "NULL", texts)
	}
	for _, id := range page {
		if err := m.fetch(ctx, []int64{id}, texts); err != nil {
			return err
		}
	}
	return nil
}

// query adds rows with their lengths and body, an expression.
func (m *Mailbox) query(ctx context.Context, page []int64, body string, texts map[int64]Text) error {
	marks, args := placeholders(page)
	query := fmt.Sprintf("SELECT %s, OCTET_LENGTH(%s), CHARSET(%s) = 'binary', %s FROM %s WHERE %s IN (%s)", m.id, m.text, m.text, body, m.table, m.id, marks)
	fetched, err := collect(ctx, m.db, func(row *sql.Rows) (t Text, err error) {
		var bytes sql.NullInt64
		err = row.Scan(&t.ID, &bytes, &t.Binary, &t.Body)
		t.Bytes, t.Null = bytes.Int64, !bytes.Valid
		t.Oversized = bytes.Valid && t.Body == nil
		return t, err
	}, query, args...)
	if err != nil {
		return err
	}
	for _, text := range fetched {
		texts[text.ID] = text
	}
	return nil
}

// pages shares rows out in the order of their ids, so that what one query fetches stays within Config.PageBytes.
func (m *Mailbox) pages(positions []Position) [][]int64 {
	bytes := make(map[int64]int64, len(positions))
	ids := make([]int64, 0, len(positions))
	for _, p := range positions {
		ids = append(ids, p.ID)
		if p.Bytes <= m.cfg.MaxTextBytes {
			bytes[p.ID] = p.Bytes
		}
	}
	var (
		pages [][]int64
		page  []int64
		total int64
	)
	for _, id := range sortedUnique(ids) {
		if len(page) > 0 && (total+bytes[id] > m.cfg.PageBytes || len(page) == idsPerQuery) {
			pages, page, total = append(pages, page), nil, 0
		}
		page, total = append(page, id), total+bytes[id]
	}
	if len(page) > 0 {
		pages = append(pages, page)
	}
	return pages
}
