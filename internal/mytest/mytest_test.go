package mytest

import (
	"testing"

	"github.com/go-sql-driver/mysql"
)

func TestNew(t *testing.T) {
	d := New(t)
	const text = "航班 CA1234 🛬"
	if first, second := d.Insert(text), d.Insert("b"); first != 1 || second != 2 {
		t.Fatalf("ids %d, %d; want 1, 2", first, second)
	}
	if first := d.Burn(3); first != 3 {
		t.Fatalf("burned from %d; want 3", first)
	}
	if id := d.Insert("c"); id != 6 {
		t.Errorf("id %d after three burned ones; want 6", id)
	}

	var got, status string
	var received bool
	if err := d.SQL.QueryRowContext(t.Context(), `SELECT CMINMSGS_CLOB_MSG, CMINMSGS_STATUS,
		CMINMSGS_DATE_RECEIVED IS NOT NULL AND CMINMSGS_DATE_PROCESSED IS NULL FROM cminmsgs WHERE CMINMSGS_ID = 1`).
		Scan(&got, &status, &received); err != nil {
		t.Fatal(err)
	}
	if got != text || status != "VALID" || !received {
		t.Errorf("row is %q %q %t", got, status, received)
	}
	var outbound int
	if err := d.SQL.QueryRowContext(t.Context(), "SELECT count(*) FROM coutmsgs").Scan(&outbound); err != nil || outbound != 0 {
		t.Errorf("outbound: %d rows, %v", outbound, err)
	}
}

func TestDatabasesAreSeparateAndDropped(t *testing.T) {
	keeper := New(t)
	var name string
	t.Run("another test", func(t *testing.T) {
		d := New(t)
		name = d.Name
		if id := d.Insert("a"); id != 1 {
			t.Errorf("id %d in a fresh mailbox; want 1", id)
		}
		cfg, err := mysql.ParseDSN(d.DSN)
		if err != nil || cfg.DBName != d.Name {
			t.Errorf("DSN names %q, %v; want %q", cfg.DBName, err, d.Name)
		}
	})
	var left int
	if err := keeper.SQL.QueryRowContext(t.Context(), "SELECT count(*) FROM information_schema.schemata WHERE schema_name = ?", name).Scan(&left); err != nil {
		t.Fatal(err)
	}
	if left != 0 || name == keeper.Name {
		t.Errorf("database %s is left after its test", name)
	}
}
