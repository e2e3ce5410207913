package schema

import "slices"

// children calls f for each node right below n.
func (n *node) children(f func(*node)) {
	if n.arr != nil && n.arr.items != nil {
		f(n.arr.items)
	}
	if n.obj != nil {
		for i := range n.obj.fields {
			f(n.obj.fields[i].node)
		}
		if n.obj.extra != nil {
			f(n.obj.extra)
		}
	}
	if n.union != nil {
		for _, v := range n.union.variants {
			f(v)
		}
	}
	for _, b := range n.branches {
		f(b.node)
	}
	if n.described != nil {
		f(n.described)
	}
}

// reachable lists root and all nodes below it, each once.
func reachable(root *node) []*node {
	const few = 64 // nodes that are looked for one by one
	list := append(make([]*node, 0, few/2), root)
	var seen map[*node]bool
	add := func(child *node) {
		if seen[child] || seen == nil && slices.Contains(list, child) {
			return
		}
		list = append(list, child)
		if seen != nil {
			seen[child] = true
		} else if len(list) == few {
			seen = make(map[*node]bool, 4*few)
			for _, n := range list {
				seen[n] = true
			}
		}
	}
	for i := 0; i < len(list); i++ {
		list[i].children(add)
	}
	return list
}

// markDefaults notes in each node whether a default is defined in it or below.
func markDefaults(nodes []*node) {
	for changed := true; changed; {
		changed = false
		for _, n := range nodes {
			if !n.defaults && n.definesDefault() {
				n.defaults, changed = true, true
			}
		}
	}
}

func (n *node) definesDefault() bool {
	found := false
	if n.obj != nil {
		for i := range n.obj.fields {
			found = found || n.obj.fields[i].fallback != nil
		}
	}
	n.children(func(child *node) { found = found || child.defaults })
	return found
}

// markPassing notes in the nodes of Go types whether the type alone keeps all rules, so that a
// check of Go values need not look at them.
func markPassing(nodes []*node) {
	for _, n := range nodes {
		switch n.bind {
		case bindBool:
			n.passes = n.pointers == 0 && n.enum == nil
		case bindInt, bindUint:
			n.passes = n.pointers == 0 && n.enum == nil && (n.num == nil || n.num.kind)
		}
	}
}

// holdsSecret reports whether a field of n is marked secret.
func (n *node) holdsSecret() bool {
	if n.obj != nil {
		for i := range n.obj.fields {
			if n.obj.fields[i].secret {
				return true
			}
		}
	}
	return n.secret
}
