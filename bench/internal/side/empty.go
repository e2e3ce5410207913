package side

import (
	"io"
	"net/http"
)

// Empty returns the handler that reads the body and answers 200 with nothing:
// what the harness itself costs.
func Empty() http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if _, err := io.Copy(io.Discard, r.Body); err != nil {
			http.Error(w, "the body could not be read", http.StatusBadRequest)
		}
	})
}
