package pgtest

import (
	"context"
	"os"
	"sync"
	"testing"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"
)

func ask[T any](t *testing.T, pool *pgxpool.Pool, query string, args ...any) (got T) {
	t.Helper()
	if err := pool.QueryRow(t.Context(), query, args...).Scan(&got); err != nil {
		t.Fatalf("%s: %v", query, err)
	}
	return got
}

func TestNew(t *testing.T) {
	keeper := NewEmpty(t)
	var name string
	t.Run("another test", func(t *testing.T) {
		d := New(t)
		name = d.Name
		if !ask[bool](t, d.Pool, "SELECT to_regclass('msgx.inbox_cursor') IS NOT NULL AND rolsuper FROM pg_roles WHERE rolname = current_user") {
			t.Error("not migrated, or not superuser")
		}
		for role, url := range map[string]string{"msgx_app": d.AppURL, "msgx_operator": d.OperatorURL, "msgx_auditor": d.AuditorURL} {
			pool := d.Connect(t, url)
			if got := ask[string](t, pool, "SELECT current_database()::text"); got != d.Name {
				t.Errorf("%s is in database %s", role, got)
			}
			if !ask[bool](t, pool, "SELECT pg_has_role(current_user, $1, 'USAGE') AND NOT rolsuper FROM pg_roles WHERE rolname = current_user", role) {
				t.Errorf("the login of %s is not an ordinary member of it", role)
			}
		}
	})
	if ask[bool](t, keeper.Pool, "SELECT EXISTS (SELECT FROM pg_database WHERE datname = $1)", name) {
		t.Errorf("database %s is left after its test", name)
	}
	if ask[bool](t, keeper.Pool, "SELECT EXISTS (SELECT FROM pg_namespace WHERE nspname = 'msgx')") {
		t.Error("an empty database has our schema")
	}
}

// Several test binaries start at once and find no template.
func TestTemplateIsMadeOnce(t *testing.T) {
	server := os.Getenv(Env)
	if server == "" {
		t.Fatal(HowToRun)
	}
	name, err := template(t.Context(), server)
	if err != nil {
		t.Fatal(err)
	}
	oid := func() uint32 {
		conn, err := pgx.Connect(t.Context(), server)
		if err != nil {
			t.Fatal(err)
		}
		defer conn.Close(context.WithoutCancel(t.Context()))
		var oid uint32
		if err := conn.QueryRow(t.Context(), "SELECT oid FROM pg_database WHERE datname = $1", name).Scan(&oid); err != nil {
			t.Fatal(err)
		}
		return oid
	}
	before := oid()
	var all sync.WaitGroup
	for range 4 {
		all.Go(func() {
			d, err := Create(t.Context(), server)
			if err != nil {
				t.Error(err)
				return
			}
			if err := d.Drop(t.Context(), server); err != nil {
				t.Error(err)
			}
		})
	}
	all.Wait()
	if after := oid(); after != before {
		t.Error("the template was made again")
	}
}
