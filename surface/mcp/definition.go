package mcp

import (
	"github.com/ambit-dev/ambit"
	"github.com/ambit-dev/ambit/internal/strictjson"
)

// definitions writes tools' definitions for a catalog of tools/list, which
// copies each before it asks for the next. With legacy they are for clients that
// know output schemas of objects alone, and would refuse the whole list for
// another one.
func definitions(legacy bool) func(ambit.AnyContract) ([]byte, error) {
	var text []byte
	return func(c ambit.AnyContract) ([]byte, error) {
		text = appendDefinition(text[:0], c, !legacy || c.Output().IsObject())
		return text, nil
	}
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
	dst = c.Input().AppendJSON(dst)
	if spec.PublishOutput && output {
		dst = append(dst, `,"outputSchema":`...)
		dst = c.Output().AppendJSON(dst)
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
