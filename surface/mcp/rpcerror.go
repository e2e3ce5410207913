package mcp

import (
	"net/http"
	"strconv"

	"github.com/ambit-dev/ambit/internal/strictjson"
)

// Error numbers: those of JSON-RPC 2.0 (section 5.1), and those that the
// protocol adds from 2026-07-28 on.
const (
	numberParse          = -32700
	numberInvalidRequest = -32600
	numberUnknownMethod  = -32601
	numberInvalidParams  = -32602
	numberInternal       = -32603
	numberHeaderMismatch = -32020
	numberVersion        = -32022
)

// rpcError is a JSON-RPC error: a fault of the request, not of what was called.
type rpcError struct {
	number  int
	message string
	data    []byte // JSON text; nil: none
	status  int    // HTTP status; zero: what the number has
}

func parseError(err error) *rpcError {
	// The text of the error tells where and what, and nothing of the message.
	return &rpcError{number: numberParse, message: "The message is not valid JSON: " + err.Error() + "."}
}

func invalidRequest(message string) *rpcError {
	return &rpcError{number: numberInvalidRequest, message: message}
}

func invalidParams(message string) *rpcError {
	return &rpcError{number: numberInvalidParams, message: message}
}

func headerMismatch(message string) *rpcError {
	return &rpcError{number: numberHeaderMismatch, message: message}
}

func unknownMethod(method []byte) *rpcError {
	return &rpcError{number: numberUnknownMethod, message: "There is no method " + shown(method) + " here."}
}

func unsupportedVersion(requested []byte, least revision) *rpcError {
	data := appendSupported([]byte(`{"supported":`), least)
	data = append(data, `,"requested":`...)
	data = strictjson.AppendString(data, cut(requested))
	return &rpcError{number: numberVersion, message: "This revision of the protocol is not served here.", data: append(data, '}')}
}

// httpStatus returns the status of an HTTP answer that is this error. Up to
// 2025-11-25 a request that was understood is answered with 200 whatever comes
// of it.
func (e *rpcError) httpStatus(r revision) int {
	switch {
	case e.status != 0:
		return e.status
	case e.number == numberUnknownMethod && r.modern():
		return http.StatusNotFound
	case e.number == numberInvalidParams && r.modern():
		return http.StatusBadRequest
	}
	switch e.number {
	case numberParse, numberInvalidRequest, numberHeaderMismatch, numberVersion:
		return http.StatusBadRequest
	}
	return http.StatusOK
}

// appendError appends a whole response. The id is null where it is not known.
func appendError(dst, id []byte, e *rpcError) []byte {
	dst = append(dst, `{"jsonrpc":"2.0","id":`...)
	if id == nil {
		dst = append(dst, "null"...)
	} else {
		dst = append(dst, id...)
	}
	dst = append(dst, `,"error":{"code":`...)
	dst = strconv.AppendInt(dst, int64(e.number), 10)
	dst = append(dst, `,"message":`...)
	dst = strictjson.AppendString(dst, e.message)
	if e.data != nil {
		dst = append(dst, `,"data":`...)
		dst = append(dst, e.data...)
	}
	return append(dst, "}}"...)
}

// maxEcho is how much of a caller's own word is given back.
const maxEcho = 64

// cut returns at most the first bytes of a caller's word.
func cut(word []byte) []byte {
	return word[:min(len(word), maxEcho)]
}

// shown quotes a caller's word for a message.
func shown(word []byte) string { return strconv.QuoteToASCII(string(cut(word))) }
