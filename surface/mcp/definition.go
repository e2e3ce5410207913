package mcp

import (
	"github.com/ambit-dev/ambit"
	"github.com/ambit-dev/ambit/internal/strictjson"
)

// renderModern writes a tool's definition for tools/list.
func renderModern(c ambit.AnyContract) ([]byte, error) {
	return appendDefinition(nil, c, true), nil
}

// renderLegacy is renderModern for clients that know output schemas of objects
// alone, and would refuse the whole list for another one.
func renderLegacy(c ambit.AnyContract) ([]byte, error) {
	return appendDefinition(nil, c, c.Output().IsObject()), nil
}

// appendDefinition writes the definition of 2026-07-28. Members that older
// revisions do not have are extensions to their clients.
func appendDefinition(dst []byte, c ambit.AnyContract, output bool) []byte {
	spec := c.Spec()
	dst = append(dst, `{"name":`...)
	dst = strictjson.AppendString(dst, c.ToolName())
	if spec.Title != "" {
		dst = append(dst, `,"title":`...)
		dst = strictjson.AppendString(dst, spec.Title)
	}
	dst = append(dst, `,"description":`...)
	dst = strictjson.AppendString(dst, spec.Description)
	dst = append(dst, `,"inputSchema":`...)
	dst = append(dst, c.Input().JSON()...)
	if spec.PublishOutput && output {
		dst = append(dst, `,"outputSchema":`...)
		dst = append(dst, c.Output().JSON()...)
	}
	dst = append(dst, `,"annotations":{`...)
	dst = append(dst, hints(spec)...)
	dst = append(dst, `},"_meta":{"`+keyName+`":`...)
	dst = strictjson.AppendString(dst, spec.Name)
	dst = append(dst, `,"`+keyEffect+`":`...)
	dst = strictjson.AppendString(dst, spec.Effect.String())
	if spec.Untrusted {
		dst = append(dst, `,"`+keyUntrusted+`":true`...)
	}
	return append(dst, "}}"...)
}

// hints says of a tool what its effect says and nothing more: a hint that is
// not known is left out, for which the protocol assumes the worse.
func hints(spec ambit.Spec) string {
	if spec.Effect == ambit.Read {
		return `"readOnlyHint":true`
	}
	known := `"readOnlyHint":false`
	switch spec.Effect {
	case ambit.Write:
		known += `,"destructiveHint":false,"openWorldHint":false`
	case ambit.External:
		known += `,"openWorldHint":true`
	case ambit.Destructive:
		known += `,"destructiveHint":true`
	}
	if spec.Idempotent {
		known += `,"idempotentHint":true`
	}
	return known
}
