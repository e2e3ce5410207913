package command_test

import (
	"bytes"
	"context"
	"errors"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/ambit-dev/ambit"
	"github.com/ambit-dev/ambit/command"
	"github.com/ambit-dev/ambit/trust/apikey"
)

// TestKey puts the entry that the command prints into a file of keys, and comes
// in with the key, by a program that cannot open its application.
func TestKey(t *testing.T) {
	t.Parallel()
	program := command.Program{
		Name: "shut",
		Open: func(context.Context) (*ambit.App, command.Options, error) {
			return nil, command.Options{}, errors.New("opened")
		},
	}
	var stdout, stderr bytes.Buffer
	if code := program.Run(t.Context(), []string{"key", "bill\u202eing"}, strings.NewReader(""), &stdout, &stderr); code != 0 || stderr.Len() > 0 {
		t.Fatalf("want exit code 0 and no error, got %d, %q", code, &stderr)
	}
	key, entry, _ := strings.Cut(stdout.String(), "\n")
	if strings.Contains(entry, "\u202e") || strings.Contains(entry, key) || strings.Count(entry, "\n") != 1 {
		t.Errorf("entry: want one visible line without the key, got %q", entry)
	}
	path := filepath.Join(t.TempDir(), "keys.json")
	if err := os.WriteFile(path, []byte(`{"keys": [`+entry+`]}`), 0o600); err != nil {
		t.Fatal(err)
	}
	file, err := apikey.OpenFile(path)
	if err != nil {
		t.Fatal(err)
	}
	keys := apikey.FromStore(file)
	r := httptest.NewRequest(http.MethodGet, "/", nil)
	r.Header.Set("Authorization", "Bearer "+key)
	identity, err := keys.Authenticate(r)
	if err != nil || identity == nil {
		t.Fatalf("the key: want its caller, got %v, %v", identity, err)
	}
	want := &ambit.Principal{Authority: apikey.Authority, Subject: "bill\u202eing", Permissions: []string{}, Unscoped: true}
	if diff := cmp.Diff(want, identity.Principal); diff != "" {
		t.Errorf("principal (-want +got):\n%s", diff)
	}
}
