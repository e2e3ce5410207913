package httpapi

import (
	"context"
	"encoding/json"
	"net/http"
	"strconv"
	"time"

	"github.com/ambit-dev/ambit"
	"github.com/ambit-dev/ambit/internal/negotiate"
	"github.com/ambit-dev/ambit/trust"
)

// exchange is one request and its answer.
type exchange struct {
	*api
	w        http.ResponseWriter
	r        *http.Request
	id       string
	identity *trust.Identity
	agent    ambit.AgentIdentity
}

// begin begins the run of the request.
func (x *exchange) begin() (context.Context, *ambit.Run) {
	return x.app.NewRun(x.guard.Context(x.r, x.identity), ambit.RunOptions{
		Principal: x.identity.Principal, Surface: ambit.HTTP, Agent: x.agent, Request: x.id,
	})
}

// stranger reports whether the sender has shown no credential where one could
// be shown.
func (x *exchange) stranger() bool { return x.identity.Anonymous() && x.guard.Authenticates() }

// method answers methods other than the one that the path is for, and OPTIONS
// (RFC 9110, section 9.3.7), and then reports false. Allow is that of the path's
// form, whether anything is there or not.
func (x *exchange) method(allow string, methods ...string) bool {
	for _, method := range methods {
		if x.r.Method == method {
			return true
		}
	}
	x.w.Header()["Allow"] = []string{allow}
	if x.r.Method == http.MethodOptions {
		x.headers(-1)
		x.w.WriteHeader(http.StatusNoContent)
		return false
	}
	x.fail(ambit.Errorf(ambit.CodeMethodNotAllowed, "This path does not take the request's method.").WithHint("Use one of: " + allow + "."))
	return false
}

// negotiated checks the headers that say what the client sends and takes.
func (x *exchange) negotiated() *ambit.Error {
	switch header := x.r.Header; {
	case !negotiate.Accepts(header["Accept"], "application/json", true):
		return ambit.Errorf(ambit.CodeNotAcceptable, "Answers are JSON.").WithHint("Send Accept: application/json, or no Accept header.")
	case x.r.ContentLength == 0:
	case !negotiate.IsJSON(header["Content-Type"]):
		return ambit.Errorf(ambit.CodeUnsupportedMediaType, "The body must be JSON.").WithHint("Send Content-Type: application/json.")
	case len(header["Content-Encoding"]) > 0:
		return ambit.Errorf(ambit.CodeUnsupportedMediaType, "The body must not have a content encoding.").
			WithHint("Send the JSON as it is, without a Content-Encoding header.")
	}
	return nil
}

// headers sets what every answer has. The length of its body is left open where
// it is negative. All values are in one allocation.
func (x *exchange) headers(length int) {
	values := &[5]string{"no-store", "nosniff", x.id, "application/json"}
	header := x.w.Header()
	header["Cache-Control"] = values[0:1:1]
	header["X-Content-Type-Options"] = values[1:2:2]
	header[trust.RequestIDHeader] = values[2:3:3]
	if length < 0 {
		return
	}
	values[4] = strconv.Itoa(length)
	header["Content-Type"] = values[3:4:4]
	header["Content-Length"] = values[4:5:5]
}

// send writes an answer and reports whether that went well. The client of a
// write that failed is gone, so there is nobody to tell.
func (x *exchange) send(status int, body []byte) bool {
	x.headers(len(body))
	x.w.WriteHeader(status)
	if x.r.Method == http.MethodHead {
		return true
	}
	_, err := x.w.Write(body)
	return err == nil
}

// fail answers with an error.
func (x *exchange) fail(e *ambit.Error) {
	header := x.w.Header()
	e = x.identity.Explain(e, x.app.Development())
	status := x.guard.Challenge(header, x.r, x.identity, e)
	if e.Replayed() {
		x.replayed()
	}
	if e.RetryAfter > 0 {
		seconds := int64((e.RetryAfter + time.Second - 1) / time.Second)
		header["Retry-After"] = []string{strconv.FormatInt(seconds, 10)}
	}
	text, err := json.Marshal(e)
	if err != nil {
		// The core lets nothing through that has no JSON form.
		x.app.Logger().ErrorContext(x.r.Context(), "error without a JSON form", "code", string(e.Code), "cause", err)
		e = &ambit.Error{Code: ambit.CodeInternal}
		text = []byte(`{"code":"internal","message":"The application failed to answer this call."}`)
	}
	body := make([]byte, 0, len(text)+24)
	body = append(body, `{"ok":false,"error":`...)
	body = append(body, text...)
	x.send(status, append(body, '}'))
}

func (x *exchange) errorOptions() ambit.ErrorOptions {
	return ambit.ErrorOptions{SupportContact: x.app.SupportContact()}
}
