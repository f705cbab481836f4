package mailbox

import (
	"reflect"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"msgexchange/internal/config"
)

func zones(a, b *time.Location) bool { return a.String() == b.String() }

// The defaults for a mailbox opened by hand are those of the configuration.
func TestDefaultsAreThoseOfTheConfiguration(t *testing.T) {
	c, err := config.Load(nil, []string{"MSGX_MAILBOX_ZONE=UTC"})
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(withDefaults(Config{MarkStatus: true}), From(c), cmp.Comparer(zones)); diff != "" {
		t.Errorf("(-package +configuration):\n%s", diff)
	}
}

func TestFromTakesEveryField(t *testing.T) {
	c, err := config.Load(nil, []string{
		"MSGX_SHADOW=true", "MSGX_MAILBOX_DSN=u:p@tcp(h:3306)/d", "MSGX_MAILBOX_ZONE=Asia/Tokyo", "MSGX_MAILBOX_TABLE=t", "MSGX_MAILBOX_COLUMN_ID=a",
		"MSGX_MAILBOX_COLUMN_TEXT=b", "MSGX_MAILBOX_COLUMN_RECEIVED=c", "MSGX_MAILBOX_COLUMN_PROCESSED=d", "MSGX_MAILBOX_COLUMN_STATUS=e",
		"MSGX_MAILBOX_PROCESSED_VALUE=VALID", "MSGX_MAILBOX_MAX_TEXT_BYTES=17MiB", "MSGX_PIPELINE_PAGE_BYTES=1MiB", "MSGX_MAILBOX_CONNECT_TIMEOUT=1s",
		"MSGX_MAILBOX_READ_TIMEOUT=9s", "MSGX_MAILBOX_WRITE_TIMEOUT=8s", "MSGX_MAILBOX_LOCK_WAIT=3s", "MSGX_MAILBOX_CONN_MAX_LIFETIME=30s",
		"MSGX_MAILBOX_ALLOW_REPLICATING=true",
	})
	if err != nil {
		t.Fatal(err)
	}
	got, defaults := reflect.ValueOf(From(c)), reflect.ValueOf(withDefaults(Config{}))
	for i := range got.NumField() {
		name := got.Type().Field(i).Name
		if cmp.Equal(got.Field(i).Interface(), defaults.Field(i).Interface(), cmp.Comparer(zones)) && name != "MarkStatus" {
			t.Errorf("%s is not taken from the configuration: %v", name, got.Field(i).Interface())
		}
	}
	if !From(c).MarkStatus {
		t.Error("MarkStatus is not taken from the configuration")
	}
}
