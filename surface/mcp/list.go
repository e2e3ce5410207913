package mcp

import (
	"github.com/ambit-dev/ambit"
	"github.com/ambit-dev/ambit/internal/strictjson"
)

// listTools answers one page of the tools that the caller can call now.
func (x *exchange) listTools(m *message) *rpcError {
	if m.params.cursor.wrong {
		return invalidParams("The member cursor must be a string.")
	}
	catalog := x.legacy
	if x.revision.modern() {
		catalog = x.modern
	}
	ctx, run := x.run(nil)
	defer run.End()
	x.enlarge(x.buffers)
	x.begin(m)
	x.out = append(x.out, `"tools":[`...)
	page, next, err := catalog.Page(ctx, run, x.out, string(m.params.cursor.text), 0)
	if err != nil {
		return x.refuse(ambit.ErrorFrom(err, x.errorOptions()))
	}
	x.out = append(page, ']')
	if next != "" {
		x.out = append(x.out, `,"nextCursor":`...)
		x.out = strictjson.AppendString(x.out, next)
	}
	x.endList()
	return nil
}

// listNothing answers a list that has no entries, whoever asks.
func (x *exchange) listNothing(m *message, member string) *rpcError {
	if m.params.cursor.set {
		return invalidParams("The cursor is not one that this list gave out.")
	}
	x.begin(m)
	x.out = append(x.out, '"')
	x.out = append(x.out, member...)
	x.out = append(x.out, `":[]`...)
	x.endList()
	return nil
}

func (x *exchange) endList() {
	if x.revision.modern() {
		x.out = append(x.out, private...)
	}
	x.end()
}
