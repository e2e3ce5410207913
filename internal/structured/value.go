package structured

// Kind is the type of a value.
type Kind uint8

// The kinds. InnerList is that of a member which is a list of items.
const (
	None Kind = iota
	Boolean
	Integer
	Decimal
	Date
	String
	Token
	Bytes
	InnerList
)

// Value is a bare item. The zero value is none.
type Value struct {
	Kind Kind
	// Number is that of an Integer, the thousandths of a Decimal, the seconds
	// of a Date since 1970, and 1 for a Boolean that is true.
	Number int64
	// Text is that of a String or a Token.
	Text string
	// Bytes are those of Bytes.
	Bytes []byte
}

// True is the Boolean that is written as nothing.
func True() Value { return Value{Kind: Boolean, Number: 1} }

// Text returns a String.
func Text(text string) Value { return Value{Kind: String, Text: text} }

// Number returns an Integer.
func Number(number int64) Value { return Value{Kind: Integer, Number: number} }

// Binary returns Bytes.
func Binary(b []byte) Value { return Value{Kind: Bytes, Bytes: b} }

// isTrue reports whether a value need not be written.
func (v Value) isTrue() bool { return v.Kind == Boolean && v.Number == 1 }

// Param is one parameter.
type Param struct {
	Name  string
	Value Value
}

// Params are parameters in their order, each name once.
type Params []Param

// Get returns a parameter. There are few.
func (p Params) Get(name string) (Value, bool) {
	for i := range p {
		if p[i].Name == name {
			return p[i].Value, true
		}
	}
	return Value{}, false
}

// Item is a value with parameters.
type Item struct {
	Value  Value
	Params Params
}

// Member is one member of a dictionary: an item, or where its kind is InnerList
// the items of a list, with the list's parameters.
type Member struct {
	Name string
	Item
	Items []Item
}

// Dictionary are members in their order, each name once.
type Dictionary []Member

// Get returns a member, nil where there is none.
func (d Dictionary) Get(name string) *Member {
	for i := range d {
		if d[i].Name == name {
			return &d[i]
		}
	}
	return nil
}
