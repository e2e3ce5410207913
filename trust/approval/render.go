package approval

import (
	"bytes"
	"crypto/sha256"
	"embed"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"html/template"
	"log/slog"
	"net/http"
	"strconv"

	"github.com/ambit-dev/ambit"
	"github.com/ambit-dev/ambit/internal/visible"
)

//go:embed page
var pageFiles embed.FS

//go:embed page/style.css
var pageStyle []byte

// frame is what every page shows around its content.
type frame struct {
	Title, App, Base, Style string
	Person                  *shownPerson
	SignOut                 string
	Alert                   *shownError
	Acts                    []act
}

type shownPerson struct{ Name, Key string }

type shownError struct{ Message, Hint string }

// shown returns an error for a page; nil for nil.
func shown(e *ambit.Error) *shownError {
	if e == nil {
		return nil
	}
	e = ambit.ErrorFrom(e, ambit.ErrorOptions{})
	return &shownError{visible.Text(e.Message), visible.Text(e.Hint)}
}

func (p *Page) frame(title string, person *ambit.Principal) frame {
	f := frame{Title: title, App: visible.Text(p.app.Title()), Base: p.base, Style: p.style}
	if person != nil {
		f.Person, f.SignOut = &shownPerson{visible.Text(person.Subject), visible.Text(person.Key())}, p.options.SignOut
	}
	return f
}

// parsePages reads the templates. The name of the style sheet tells its content,
// so that a browser may keep it.
func (p *Page) parsePages() error {
	pages, err := template.ParseFS(pageFiles, "page/*.html")
	if err != nil {
		return fmt.Errorf("approval: the page's templates: %w", err)
	}
	digest := sha256.Sum256(pageStyle)
	p.pages, p.style = pages, "style-"+hex.EncodeToString(digest[:6])+".css"
	return nil
}

// render answers with a page.
func (p *Page) render(w http.ResponseWriter, r *http.Request, name string, status int, data any) {
	var out bytes.Buffer
	if err := p.pages.ExecuteTemplate(&out, name, data); err != nil {
		p.app.Logger().ErrorContext(r.Context(), "a page of approvals cannot be written", slog.Any("cause", err))
		http.Error(w, "The page cannot be shown.", http.StatusInternalServerError)
		return
	}
	w.Header().Set("Content-Type", "text/html; charset=utf-8")
	w.Header().Set("Content-Length", strconv.Itoa(out.Len()))
	w.WriteHeader(status)
	if r.Method != http.MethodHead {
		_, _ = out.WriteTo(w) // the browser has gone
	}
}

// problem answers with an error. It knows nobody, so that it is the same for
// all.
func (p *Page) problem(w http.ResponseWriter, r *http.Request, e *ambit.Error) {
	f := p.frame("Approvals", nil)
	f.Alert = shown(e)
	p.render(w, r, "problem.html", e.Code.HTTPStatus(), f)
}

func (p *Page) serveStyle(w http.ResponseWriter) {
	w.Header().Set("Content-Type", "text/css; charset=utf-8")
	w.Header().Set("Cache-Control", "private, max-age=31536000, immutable")
	_, _ = w.Write(pageStyle)
}

// indented lays JSON text out in lines.
func indented(text []byte) []byte {
	var out bytes.Buffer
	if err := json.Indent(&out, text, "", "  "); err != nil {
		return text
	}
	return out.Bytes()
}
