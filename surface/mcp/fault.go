package mcp

import (
	"encoding/json"
	"log/slog"

	"github.com/ambit-dev/ambit"
	"github.com/ambit-dev/ambit/internal/strictjson"
)

// fault appends the result of a call that failed: the error object as the text
// that a model reads, and once more in _meta for programs.
func (x *exchange) fault(m *message, e *ambit.Error) *rpcError {
	object := x.errorObject(ambit.ErrorFrom(e, x.errorOptions()))
	x.begin(m)
	x.out = append(x.out, `"content":[{"type":"text","text":`...)
	x.out = strictjson.AppendString(x.out, object)
	x.out = append(x.out, `}],"isError":true`...)
	x.openMeta()
	if e.Replayed() {
		x.out = append(x.out, `"`+keyReplayed+`":true,`...)
	}
	x.out = append(x.out, `"`+keyError+`":`...)
	x.out = append(x.out, object...)
	x.out = append(x.out, "}}}"...)
	return nil
}

// refuse is the error for what no result can say: who the caller is or may do
// is for HTTP to answer, where it can, and a list has no place for an error.
func (x *exchange) refuse(e *ambit.Error) *rpcError {
	failure := &rpcError{number: e.Code.JSONRPC(), message: e.Message, data: x.errorObject(e)}
	if x.http && !x.batched {
		switch e.Code {
		case ambit.CodeUnauthenticated, ambit.CodeAgentRequired, ambit.CodeInsufficientScope:
			x.refused, failure.status = e, e.Code.HTTPStatus()
		}
	}
	return failure
}

// errorObject returns an error as it is on every surface.
func (s *Server) errorObject(e *ambit.Error) []byte {
	text, err := json.Marshal(e)
	if err != nil {
		// Nothing that the core lets through gets here.
		s.app.Logger().Error("error without a JSON form", slog.String("code", string(e.Code)), slog.Any("cause", err))
		return []byte(`{"code":"internal","message":"The application failed to answer this call."}`)
	}
	return text
}

func (s *Server) errorOptions() ambit.ErrorOptions {
	return ambit.ErrorOptions{SupportContact: s.app.SupportContact()}
}
