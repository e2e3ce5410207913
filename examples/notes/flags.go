package main

import (
	"cmp"
	"crypto/sha256"
	"fmt"
	"net/url"
	"path/filepath"
)

// flags are what the command line says.
type flags struct {
	database, databaseURL   string
	publicURL, approvalsURL string
	issuer, audience        string
	agents                  string
}

// beside returns the path of a file beside that of the notes.
func (f flags) beside(file string) string { return filepath.Join(filepath.Dir(f.database), file) }

// checkpoints returns the path of the file of the audit record's checkpoints: those
// of one database are not those of another.
func (f flags) checkpoints() string {
	of := filepath.Base(f.database)
	if f.databaseURL != "" {
		place := f.databaseURL
		if u, err := url.Parse(place); err == nil && u.Host != "" {
			place = u.Host + u.Path // passwords change
		}
		of = fmt.Sprintf("postgres-%.6x", sha256.Sum256([]byte(place)))
	}
	return f.beside("audit-checkpoints-" + of + ".jsonl")
}

// url is where the notes are reached.
func (f flags) url() string { return cmp.Or(f.publicURL, "http://127.0.0.1:8080") }

// page is where people decide: here, or where another process serves that.
func (f flags) page() string { return cmp.Or(f.approvalsURL, f.url()) + "/approvals" }
