package houserules

import "strings"

// A floor is a height in the house. Code may use what stands on its own floor or
// below, never what stands above.
type floor int

const (
	groundFloor  floor = iota // internal, schema
	coreFloor                 // the root package
	trustFloor                // trust
	proofFloor                // trust/*: authenticators and what a person allowed
	surfaceFloor              // surface/*: the ways in
	serveFloor                // serve, store
	inspectFloor              // inspect, ambittest, ambitotel
	commandFloor              // command
	programFloor              // cmd, examples, bench and the tests against foreign clients and in a browser
)

// A place is where a folder stands: its floor, and the room there.
type place struct {
	floor floor
	room  string
}

// placeOf returns the place of a folder. A folder that is not in the plan has
// none: a new room is a decision, made in docs/design.md and here.
func placeOf(dir string) (place, bool) {
	first, rest, _ := strings.Cut(dir, "/")
	second, _, _ := strings.Cut(rest, "/")
	switch first {
	case "internal", "schema":
		return place{groundFloor, first}, true
	case ".":
		return place{coreFloor, "the root package"}, true
	case "trust":
		if under(dir, "trust/approval/browser") {
			return place{programFloor, "trust/approval/browser"}, true
		}
		if second == "" {
			return place{trustFloor, "trust"}, true
		}
		return place{proofFloor, "trust/" + second}, true
	case "surface":
		if under(dir, "surface/mcp/interop") {
			return place{programFloor, "surface/mcp/interop"}, true
		}
		return place{surfaceFloor, "surface/" + second}, second != ""
	case "store", "serve":
		return place{serveFloor, first}, true
	case "inspect", "ambittest", "ambitotel":
		return place{inspectFloor, first}, true
	case "command":
		return place{commandFloor, first}, true
	case "cmd", "examples", "bench":
		return place{programFloor, first}, true
	}
	return place{}, false
}

// apart reports whether rooms of this floor know nothing of each other.
func (f floor) apart() bool {
	return f == proofFloor || f == surfaceFloor || f == serveFloor
}

// engine returns the folder of the engine that dir belongs to, or "". An engine
// binds a foreign runtime, database or service to an interface that a package
// further up its path declares; it is one folder, and a module of its own.
func engine(dir string) string {
	for _, family := range []string{"store", "surface/schedule", "surface/assistant", "surface/sandbox"} {
		rest, ok := strings.CutPrefix(dir, family+"/")
		if !ok {
			continue
		}
		name, _, _ := strings.Cut(rest, "/")
		if name == "internal" || name == "storetest" || name == "memory" {
			return ""
		}
		return family + "/" + name
	}
	if under(dir, "surface/mcp/mcpsdk") {
		return "surface/mcp/mcpsdk"
	}
	return ""
}
