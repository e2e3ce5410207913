package httpapi

import (
	"net/http"
	"net/url"
	"strconv"

	"github.com/ambit-dev/ambit"
	"github.com/ambit-dev/ambit/internal/strictjson"
)

// render writes a capability's entry, once for all listings.
func (a *api) render(contract ambit.AnyContract) ([]byte, error) {
	entry := ambit.ListingOf(contract)
	entry.Path = Path(a.prefix, contract.Spec())
	return strictjson.Marshal(nil, entry)
}

// list answers with what this caller can call.
func (x *exchange) list() {
	if !x.method("GET, HEAD, OPTIONS", http.MethodGet, http.MethodHead) {
		return
	}
	x.agent = x.guard.Settle(x.r, x.identity, nil)
	ctx, run := x.begin()
	defer run.End()
	if x.stranger() {
		// A challenge, rather than a list of nothing.
		if some, _, err := x.catalog.Page(ctx, run, nil, "", 1); err != nil || len(some) == 0 {
			x.fail(x.guard.Unauthenticated())
			return
		}
	}
	if refused := x.negotiated(); refused != nil {
		x.fail(refused)
		return
	}
	cursor, limit, refused := page(x.r.URL.RawQuery)
	if refused != nil {
		x.fail(refused)
		return
	}
	body := []byte(successStart + `{"capabilities":[`)
	body, next, err := x.catalog.Page(ctx, run, body, cursor, limit)
	if err != nil {
		x.fail(ambit.ErrorFrom(err, x.errorOptions()))
		return
	}
	body = append(body, ']')
	if next != "" {
		body = append(body, `,"nextCursor":"`...)
		body = append(body, next...) // base64url
		body = append(body, '"')
	}
	x.send(http.StatusOK, append(body, "}}"...))
}

// page reads the query of a listing.
func page(query string) (cursor string, limit int, refused *ambit.Error) {
	values, err := url.ParseQuery(query)
	if err != nil {
		return "", 0, ambit.Errorf(ambit.CodeInvalidInput, "The query is malformed.")
	}
	for name, given := range values {
		switch {
		case name != "cursor" && name != "limit":
			return "", 0, ambit.Errorf(ambit.CodeInvalidInput, "The query has a parameter that a list does not take.").WithHint("Use cursor and limit.")
		case len(given) > 1:
			return "", 0, ambit.Invalid("/"+name, "The parameter is given more than once.")
		}
	}
	if text, ok := values["limit"]; ok {
		limit, err = strconv.Atoi(text[0])
		if err != nil || limit < 1 || limit > ambit.DefaultPage {
			return "", 0, ambit.Invalid("/limit", "The limit is a number from 1 to 100.")
		}
	}
	return values.Get("cursor"), limit, nil
}
