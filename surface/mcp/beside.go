package mcp

import "github.com/ambit-dev/ambit"

// Headers that say something beside the input, in their canonical form.
const (
	headerReason         = "Ambit-Reason"
	headerMode           = "Ambit-Mode"
	headerConfirmation   = "Ambit-Confirmation"
	headerIdempotencyKey = "Idempotency-Key"
)

// addBeside adds what a caller says beside the input, in _meta or in a header.
func (x *exchange) addBeside(request *ambit.Request, m *meta) (refused *ambit.Error) {
	if request.Reason, refused = x.agreed(headerReason, keyReason, m.reason); refused != nil {
		return refused
	}
	if request.IdempotencyKey, refused = x.agreed(headerIdempotencyKey, keyIdempotencyKey, m.idempotencyKey); refused != nil {
		return refused
	}
	if request.IdempotencyKey == "" && (m.idempotencyKey.set || len(x.header[headerIdempotencyKey]) > 0) {
		return ambit.Errorf(ambit.CodeInvalidInput, "The idempotency key is empty.").WithHint("Send one, such as a random UUID, or leave it out.")
	}
	if request.Confirmation, refused = x.agreed(headerConfirmation, keyConfirmation, m.confirmation); refused != nil {
		return refused
	}
	mode, refused := x.agreed(headerMode, "", word{})
	if refused != nil {
		return refused
	}
	request.Mode, refused = ambit.ParseMode(mode)
	return refused
}

// agreed returns a value that may stand in a header and in _meta, but then has
// to be the same (rule T21).
func (x *exchange) agreed(header, key string, w word) (string, *ambit.Error) {
	values := x.header[header]
	switch {
	case w.wrong:
		return "", ambit.Errorf(ambit.CodeInvalidInput, "%s in _meta must be a string.", key)
	case len(values) > 1:
		return "", ambit.Errorf(ambit.CodeInvalidInput, "The request has more than one %s header.", header).WithHint("Send it once.")
	case len(values) == 0:
		return string(w.text), nil
	case w.set && string(w.text) != values[0]:
		return "", ambit.Errorf(ambit.CodeInvalidInput, "The header %s and %s in _meta differ.", header, key).WithHint("Send one of them, or the same in both.")
	}
	return values[0], nil
}
