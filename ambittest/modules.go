package ambittest

// CheckModules loads every module of the application and fails the test where one
// does not load, or where what it declares and what it loads differ.
func (h *Host) CheckModules() {
	h.t.Helper()
	if err := h.app.LoadModules(h.t.Context()); err != nil {
		h.t.Errorf("modules that cannot be used:\n%v", err)
	}
}
