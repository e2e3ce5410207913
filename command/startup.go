package command

import (
	"cmp"
	"fmt"
	"io"
	"net"

	"github.com/ambit-dev/ambit"
	"github.com/ambit-dev/ambit/serve"
	"github.com/ambit-dev/ambit/surface/httpapi"
)

// announce says what is served and, in its last line, where. It ignores errors:
// a server whose standard error is gone still serves.
func announce(w io.Writer, bound net.Addr, app *ambit.App, options serve.Options) {
	prefix := cmp.Or(options.APIPrefix, httpapi.DefaultPrefix)
	rows := [][]string{{"CAPABILITY", "EFFECT", "PERMISSION", "EXPOSED", "PATH", "TOOL"}}
	var exposed ambit.Surface
	for _, contract := range app.Capabilities() {
		spec := contract.Spec()
		exposed |= spec.Expose
		row := []string{spec.Name, spec.Effect.String(), spec.Permission, "", "", ""}
		if spec.Expose != 0 {
			row[3] = spec.Expose.String()
		}
		if spec.Expose.Has(ambit.HTTP) {
			row[4] = httpapi.Path(prefix, spec)
		}
		if spec.Expose.Has(ambit.MCP) {
			row[5] = contract.ToolName()
		}
		rows = append(rows, row)
	}
	_ = columns(w, rows)

	base := "http://" + bound.String()
	if options.TLS != nil {
		base = "https://" + bound.String()
	}
	line := "listening addr=" + bound.String() + " api=" + base + prefix
	if exposed.Has(ambit.MCP) {
		line += " mcp=" + base + cmp.Or(options.MCPPath, serve.DefaultMCPPath)
	}
	_, _ = fmt.Fprintln(w, line)
}
