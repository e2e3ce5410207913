package mcp

import (
	"math"
	"strconv"

	"github.com/ambit-dev/ambit"
	"github.com/ambit-dev/ambit/internal/strictjson"
)

// progress returns what takes a handler's progress and tells the client. The
// protocol wants it to grow with each notification, so that one that does not is
// left out.
func (x *exchange) progress(token []byte) func(ambit.Progress) {
	last := math.Inf(-1)
	return func(p ambit.Progress) {
		if !(p.Done > last) || math.IsInf(p.Done, 1) {
			return
		}
		last = p.Done
		x.listener.notify(appendProgress(nil, token, p))
	}
}

// appendProgress appends notifications/progress (2025-11-25,
// basic/utilities/progress).
func appendProgress(dst, token []byte, p ambit.Progress) []byte {
	dst = append(dst, `{"jsonrpc":"2.0","method":"notifications/progress","params":{"progressToken":`...)
	dst = append(dst, token...)
	dst = append(dst, `,"progress":`...)
	dst = appendNumber(dst, p.Done)
	if p.Total > 0 && !math.IsInf(p.Total, 1) {
		dst = append(dst, `,"total":`...)
		dst = appendNumber(dst, p.Total)
	}
	if p.Message != "" {
		dst = append(dst, `,"message":`...)
		dst = strictjson.AppendString(dst, p.Message)
	}
	return append(dst, "}}"...)
}

// appendNumber appends a finite number in the shortest form that JSON has.
func appendNumber(dst []byte, f float64) []byte {
	if math.Abs(f) < 1e21 {
		return strconv.AppendFloat(dst, f, 'f', -1, 64)
	}
	return strconv.AppendFloat(dst, f, 'e', -1, 64)
}

// appendLog appends notifications/message (2025-11-25,
// server/utilities/logging).
func appendLog(dst []byte, l level, text string) []byte {
	dst = append(dst, `{"jsonrpc":"2.0","method":"notifications/message","params":{"level":"`...)
	dst = append(dst, l.String()...)
	dst = append(dst, `","data":`...)
	dst = strictjson.AppendString(dst, text)
	return append(dst, "}}"...)
}
