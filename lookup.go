package ambit

// tools are the surfaces on which a capability goes by its tool name.
const tools = MCP | WebMCP | Assistant | Sandbox

// find returns what a caller of the run means by a name, or nil: one of the
// application's capabilities, or one of the run's own. A handler's own calls go
// by the dotted name.
func (r *Run) find(s Surface, name string) *entry {
	switch {
	case len(name) > maxName:
		return nil
	case s&tools != 0:
		return r.lookup(r.app.byTool, name, (*entry).toolName)
	}
	return r.lookup(r.app.byName, name, (*entry).dotted)
}

func (r *Run) lookup(registered map[string]*entry, name string, key func(*entry) string) *entry {
	if e := registered[name]; e != nil {
		return e
	}
	for _, e := range r.own {
		if key(e) == name {
			return e
		}
	}
	return nil
}

func (e *entry) dotted() string   { return e.contract.spec.Name }
func (e *entry) toolName() string { return e.contract.tool }

// name returns what the capability is called on a surface.
func (e *entry) name(s Surface) string {
	if s&tools != 0 {
		return e.toolName()
	}
	return e.dotted()
}
