package strictjson

// An Object walks the members of one JSON object in place, like a [bufio.Scanner]:
//
//	members := strictjson.Members(data, 64)
//	for members.Next() {
//		use(members.Key(), members.Value())
//	}
//	if err := members.Err(); err != nil {
//		...
//	}
//
// Each value is read strictly, to its full depth, before it is handed out. Duplicate keys are
// handed out like others, see [Keys].
type Object struct {
	data       []byte
	depth      int
	pos        int
	started    bool
	key        []byte
	start, end int
	err        error
}

// Members returns an iterator over the object that is the whole of data, white space around it
// aside. The object itself counts as one level of depth. The iterator keeps data, and hands
// out slices of it.
func Members(data []byte, depth int) Object {
	return Object{data: data, depth: min(depth, MaxDepth)}
}

// Next moves to the next member. It returns false at the end and at the first error; only
// after the closing brace and everything behind it has been read without error is Err nil.
func (o *Object) Next() bool {
	if o.err != nil {
		return false
	}
	more, err := o.advance()
	if err != nil {
		o.err = err
		return false
	}
	return more
}

func (o *Object) advance() (bool, error) {
	if !o.started {
		o.started = true
		i, empty, err := enter(o.data, '{', '}', o.depth)
		if err != nil || empty {
			o.pos = i
			return false, err
		}
		o.pos = i
	} else {
		i, more, err := leave(o.data, o.end, '}')
		if err != nil || !more {
			o.end = i
			return false, err
		}
		o.pos = i
	}
	end, escaped, err := String(o.data, o.pos)
	if err != nil {
		return false, err
	}
	o.key = o.data[o.pos+1 : end-1]
	if escaped {
		o.key = Unquote(o.key)
	}
	if o.start, err = Colon(o.data, end); err != nil {
		return false, err
	}
	o.end, err = Skip(o.data, o.start, o.depth-1)
	return err == nil, err
}

// Key returns the name of the current member, decoded. It is a slice of the data unless the
// name holds escapes.
func (o *Object) Key() []byte { return o.key }

// Value returns the value of the current member, a slice of the data.
func (o *Object) Value() []byte { return o.data[o.start:o.end:o.end] }

// Err returns the first error, an [*Error], or nil.
func (o *Object) Err() error { return o.err }

// An Array walks the elements of one JSON array in place, as [Object] walks members.
type Array struct {
	data       []byte
	depth      int
	started    bool
	start, end int
	err        error
}

// Elements returns an iterator over the array that is the whole of data, white space around it
// aside. The array itself counts as one level of depth. The iterator keeps data, and hands out
// slices of it.
func Elements(data []byte, depth int) Array {
	return Array{data: data, depth: min(depth, MaxDepth)}
}

// Next moves to the next element. It returns false at the end and at the first error; only
// after the closing bracket and everything behind it has been read without error is Err nil.
func (a *Array) Next() bool {
	if a.err != nil {
		return false
	}
	more, err := a.advance()
	if err != nil {
		a.err = err
		return false
	}
	return more
}

func (a *Array) advance() (bool, error) {
	if !a.started {
		a.started = true
		i, empty, err := enter(a.data, '[', ']', a.depth)
		if err != nil || empty {
			return false, err
		}
		a.start = i
	} else {
		i, more, err := leave(a.data, a.end, ']')
		if err != nil || !more {
			a.end = i
			return false, err
		}
		a.start = i
	}
	var err error
	a.end, err = Skip(a.data, a.start, a.depth-1)
	return err == nil, err
}

// Value returns the current element, a slice of the data.
func (a *Array) Value() []byte { return a.data[a.start:a.end:a.end] }

// Err returns the first error, an [*Error], or nil.
func (a *Array) Err() error { return a.err }

// enter reads the opening byte of the container that is the whole of data and returns the
// position of its first entry, or that it is empty and nothing follows.
func enter(data []byte, opening, closing byte, depth int) (first int, empty bool, err error) {
	i := Space(data, 0)
	if i >= len(data) || data[i] != opening {
		want := "an array"
		if opening == '{' {
			want = "an object"
		}
		return i, false, unexpected(data, i, want)
	}
	if depth <= 0 {
		return i, false, tooDeep(i)
	}
	i = Space(data, i+1)
	if i < len(data) && data[i] == closing {
		return i + 1, true, End(data, i+1)
	}
	return i, false, nil
}

// leave reads what follows an entry; after the closing byte nothing may follow.
func leave(data []byte, i int, closing byte) (next int, more bool, err error) {
	next, more, err = Next(data, i, closing)
	if err == nil && !more {
		err = End(data, next)
	}
	return next, more, err
}
