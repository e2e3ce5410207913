package store_test

import (
	"context"
	"fmt"
	"log"
	"os"
	"path/filepath"

	"github.com/ambit-dev/ambit/examples/notes/notes"
	"github.com/ambit-dev/ambit/examples/notes/store"
)

// The store's methods are ordinary Go; they need no application around them.
func Example() {
	folder, err := os.MkdirTemp("", "notes")
	if err != nil {
		log.Fatal(err)
	}
	defer os.RemoveAll(folder)

	ctx := context.Background()
	s, err := store.Open(ctx, filepath.Join(folder, "notes.db"))
	if err != nil {
		log.Fatal(err)
	}
	defer s.Close()

	found, err := s.Search(ctx, notes.SearchInput{Query: "backup restore", Limit: 3})
	if err != nil {
		log.Fatal(err)
	}
	for _, hit := range found.Hits {
		fmt.Println(hit.ID, hit.Title)
	}
	// Output:
	// 5 How to restore a backup
	// 6 Backup schedule
}
