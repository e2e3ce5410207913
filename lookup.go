package ambit

// tools are the surfaces on which a capability goes by its tool name.
const tools = MCP | WebMCP | Assistant | Sandbox

// lookup finds what a caller on a surface means by a name, or nil.
func (a *App) lookup(s Surface, name string) *entry {
	switch {
	case len(name) > maxName:
		return nil
	case s&tools != 0:
		return a.byTool[name]
	}
	return a.byName[name]
}

// name returns what the capability is called on a surface.
func (e *entry) name(s Surface) string {
	if s&tools != 0 {
		return e.contract.tool
	}
	return e.contract.spec.Name
}
