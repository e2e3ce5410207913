package httpapi

import (
	"context"
	"net/http"
	"strings"

	"github.com/ambit-dev/ambit"
	"github.com/ambit-dev/ambit/trust"
)

// successStart and successEnd stand around an output.
const (
	successStart = `{"ok":true,"data":`
	successEnd   = '}'
)

// call answers a request at a path of a capability's form. All that comes
// before the body is read is decided without regard to whether a capability is
// there, but for strangers, whom both cases give the same answer.
func (x *exchange) call(path string) {
	if !x.method("OPTIONS, POST", http.MethodPost) {
		return
	}
	at, found := x.routes[path]
	if !found {
		// A name cannot begin with a slash, so that this one finds nothing,
		// and the answer is that for names which do not exist.
		at.name = "/" + path
		at.asked = at.name
	}
	x.agent = x.identity.Agent()
	ctx, run := x.begin()
	defer func() { run.End() }()
	if x.stranger() && run.Admit(ctx, at.name) != nil {
		x.fail(x.guard.Unauthenticated())
		return
	}
	request, refused := x.request(at)
	if refused != nil {
		x.fail(refused)
		return
	}
	request.Asked = at.asked
	b := x.pool.Get().(*buffers)
	defer x.put(b)
	if b.in, refused = trust.ReadBody(x.w, x.r, x.identity, b.in[:0], x.limit(ctx, run, at)); refused != nil {
		x.fail(refused)
		return
	}
	if agent := x.guard.Settle(x.r, x.identity, b.in); agent != x.agent { // the body spoke against it
		run.End()
		x.agent = agent
		ctx, run = x.begin()
	}
	b.out = append(b.out[:0], successStart...)
	request.Input, request.Into = b.in, b.out
	result, err := run.Invoke(ctx, request)
	if err != nil {
		failure := ambit.ErrorFrom(err, x.errorOptions())
		if !found {
			failure = x.whereItIs(ctx, run, path, failure)
		}
		x.fail(failure)
		return
	}
	b.out = append(result.Buffer, successEnd)
	if result.Replayed {
		x.replayed()
	}
	if !x.send(http.StatusOK, b.out) {
		b.out = nil // HTTP/2 may still hold it
	}
}

// whereItIs adds to the answer for a path at which nothing is, where that is the name
// of a capability, what its path is. Like every suggestion it is for those who may
// call it, and not for anonymous callers.
func (x *exchange) whereItIs(ctx context.Context, run *ambit.Run, path string, e *ambit.Error) *ambit.Error {
	name := strings.ReplaceAll(path, "/", ".")
	at, named := x.paths[name]
	if e.Code != ambit.CodeNotFound || !named || x.identity.Anonymous() || run.Admit(ctx, name) != nil {
		return e
	}
	return e.WithHint("It is at " + at + ".")
}

// replayed says that the answer is that of an earlier call with the same
// Idempotency-Key.
func (x *exchange) replayed() { x.w.Header()["Idempotency-Replayed"] = []string{"true"} }

// request reads the call from the headers.
func (x *exchange) request(at route) (request ambit.Request, refused *ambit.Error) {
	if x.r.URL.RawQuery != "" {
		return request, ambit.Errorf(ambit.CodeInvalidInput, "A call takes nothing from the query.").WithHint("Send the input as the JSON body.")
	}
	if refused := x.negotiated(); refused != nil {
		return request, refused
	}
	request.Name, request.Trace = at.name, trust.Trace(x.r.Header)
	if request.Reason, refused = x.single("Ambit-Reason"); refused != nil {
		return request, refused
	}
	if request.Confirmation, refused = x.single("Ambit-Confirmation"); refused != nil {
		return request, refused
	}
	if request.IdempotencyKey, refused = x.single("Idempotency-Key"); refused != nil {
		return request, refused
	}
	if request.IdempotencyKey == "" && len(x.r.Header["Idempotency-Key"]) > 0 {
		return request, ambit.Errorf(ambit.CodeInvalidInput, "The idempotency key is empty.").WithHint("Send one, such as a random UUID, or leave the header out.")
	}
	mode, refused := x.single("Ambit-Mode")
	if refused != nil {
		return request, refused
	}
	request.Mode, refused = ambit.ParseMode(mode)
	return request, refused
}

// single returns the value of a header that may stand once, "" where it is not
// there. The name is in its canonical form.
func (x *exchange) single(name string) (string, *ambit.Error) {
	switch values := x.r.Header[name]; len(values) {
	case 0:
		return "", nil
	case 1:
		return values[0], nil
	}
	return "", ambit.Errorf(ambit.CodeInvalidInput, "The request has more than one %s header.", name).WithHint("Send it once.")
}

// limit returns how many bytes a body may have. A capability that takes more
// than others gives itself away by it, so that only those who may call it get
// its limit; what takes less says so itself.
func (x *exchange) limit(ctx context.Context, run *ambit.Run, at route) int {
	limit := x.app.MaxInput()
	if at.maxInput > limit && run.Admit(ctx, at.name) == nil {
		return at.maxInput
	}
	return limit
}
