package schema

// mistyped reports a value of the wrong type.
func (r *report) mistyped(n *node, at *path, got types) {
	if n.types == 0 {
		r.add(at, "false", "no value is allowed here; leave it out", nil)
		return
	}
	message := "must be " + n.types.phrase()
	switch {
	case got != typeNull:
		message += ", not " + got.phrase()
	case at.field != nil && at.field.required:
		message += ", not null"
	default:
		message += ", not null; leave it out if there is no value"
	}
	r.add(at, "type", message, nil)
}

// phrase names the types of t for a message: "a string or null".
func (t types) phrase() string {
	if t&typeNumber != 0 {
		t &^= typeInteger
	}
	text := ""
	for _, known := range typeNames {
		if t&known.bit == 0 {
			continue
		}
		t &^= known.bit
		switch {
		case text == "":
		case t == 0:
			text += " or "
		default:
			text += ", "
		}
		switch known.bit {
		case typeNull:
		case typeObject, typeArray, typeInteger:
			text += "an "
		default:
			text += "a "
		}
		text += known.name
	}
	return text
}
