package pgtest

import (
	"context"
	"crypto/rand"
	"os"
	"strings"
	"sync"
	"testing"

	"github.com/jackc/pgx/v5/pgxpool"
)

func ask[T any](t *testing.T, pool *pgxpool.Pool, query string, args ...any) (got T) {
	t.Helper()
	if err := pool.QueryRow(t.Context(), query, args...).Scan(&got); err != nil {
		t.Errorf("%s: %v", query, err)
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

// Several test binaries start at once and find no template: one makes it, and
// none copies it half made.
func TestTemplateIsMadeOnce(t *testing.T) {
	server := os.Getenv(Env)
	if server == "" {
		t.Fatal(HowToRun)
	}
	name := "msgx_template_of_" + strings.ToLower(rand.Text()[:8])
	t.Cleanup(func() {
		ctx := context.WithoutCancel(t.Context())
		for _, statement := range []string{"ALTER DATABASE " + name + " IS_TEMPLATE false", "DROP DATABASE " + name} {
			if err := execute(ctx, server, statement); err != nil {
				t.Errorf("%s: %v", statement, err)
			}
		}
	})
	var all sync.WaitGroup
	for range 6 {
		all.Go(func() {
			if err := template(t.Context(), server, name); err != nil {
				t.Error(err)
				return
			}
			d, err := create(t.Context(), server, name)
			if err != nil {
				t.Error(err)
				return
			}
			if !ask[bool](t, d.Pool, "SELECT to_regproc('msgx.pump_apply') IS NOT NULL") {
				t.Error("the copy has no functions")
			}
			if err := d.Drop(t.Context(), server); err != nil {
				t.Error(err)
			}
		})
	}
	all.Wait()
}
