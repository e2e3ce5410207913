package schema

import (
	"bytes"
	"errors"
	"fmt"
	"reflect"
	"regexp"
	"slices"
	"strings"
	"sync"

	"github.com/ambit-dev/ambit/internal/plural"
	"github.com/ambit-dev/ambit/internal/strictjson"
	"github.com/santhosh-tekuri/jsonschema/v6"
	"github.com/santhosh-tekuri/jsonschema/v6/kind"
)

const (
	// completeBudget bounds the work of one check: the values in the text and the times that a
	// schema is applied to one, together. Each costs up to a kilobyte and some microseconds, far
	// more than in the tree. It ends work that grows exponentially with the text.
	completeBudget = 100_000
	// completeDigits bounds the digits and the exponent of numbers, because the complete
	// validator writes them out.
	completeDigits = 400
)

// tooMuchWork is what is said when the budget is used up.
const tooMuchWork = "takes more work to check than one call may cost; send a smaller value"

// completeValidator checks by keywords that the tree does not know. It covers a whole schema
// text, those keywords included that the tree checks as well.
type completeValidator struct {
	document any
	formats  bool
	// machines holds compiled validators. Each counts its own work, so that one serves one
	// check at a time.
	machines sync.Pool
}

// completeMachine is one compiled validator and its counter.
type completeMachine struct {
	schema *jsonschema.Schema
	left   int // of the budget
}

// exhausted ends a check that used up its budget.
type exhausted struct{}

// newComplete compiles a schema text. formats tells whether formats are asserted.
func newComplete(text []byte, formats bool) (*completeValidator, error) {
	document, err := jsonschema.UnmarshalJSON(bytes.NewReader(text))
	if err != nil {
		return nil, errors.New("the text is not JSON")
	}
	c := &completeValidator{document: document, formats: formats}
	m, err := c.compile()
	if err != nil {
		return nil, err
	}
	c.machines.Put(m)
	return c, nil
}

// noLoader refuses whatever a schema refers to outside of itself.
type noLoader struct{}

func (noLoader) Load(url string) (any, error) {
	return nil, fmt.Errorf("refers to %s; only references into the schema itself are followed", url)
}

// compile makes one more machine.
func (c *completeValidator) compile() (*completeMachine, error) {
	const location = "schema:///"
	m := &completeMachine{}
	compiler := jsonschema.NewCompiler()
	compiler.DefaultDraft(jsonschema.Draft2020)
	compiler.UseLoader(noLoader{})
	compiler.UseRegexpEngine(func(pattern string) (jsonschema.Regexp, error) { return regexp.Compile(pattern) })
	if c.formats {
		compiler.AssertFormat()
		for i, f := range formats {
			if i > 0 {
				compiler.RegisterFormat(&jsonschema.Format{Name: f.name, Validate: assertFormat(format(i))})
			}
		}
	}
	compiler.RegisterVocabulary(&jsonschema.Vocabulary{
		URL: location + "count",
		Compile: func(*jsonschema.CompilerContext, map[string]any) (jsonschema.SchemaExt, error) {
			return m, nil
		},
	})
	compiler.AssertVocabs()
	if err := compiler.AddResource(location, c.document); err != nil {
		return nil, err
	}
	var err error
	m.schema, err = compiler.Compile(location)
	return m, err
}

// Validate counts one application of a schema; it is what the vocabulary adds to each of them.
// It panics when too many have been counted, which whoever began the validation recovers.
func (m *completeMachine) Validate(*jsonschema.ValidatorContext, any) {
	if m.left--; m.left < 0 {
		panic(exhausted{})
	}
}

func assertFormat(f format) func(v any) error {
	return func(v any) error {
		if s, ok := v.(string); ok && !hasFormat(f, s) {
			return errors.New(formats[f].message)
		}
		return nil
	}
}

// check reports what the complete validator says about a valid JSON text.
func (c *completeValidator) check(r *report, n *node, at *path, text []byte) {
	values, bounded := measure(text)
	switch {
	case !bounded:
		r.add(at, "budget", "holds a number with more digits or a larger exponent than can be checked", nil)
		return
	case values > completeBudget:
		r.add(at, "budget", tooMuchWork, nil)
		return
	}
	value, err := jsonschema.UnmarshalJSON(bytes.NewReader(text))
	if err != nil {
		r.add(at, "syntax", "the text is not JSON", nil)
		return
	}
	m, _ := c.machines.Get().(*completeMachine)
	if m == nil {
		if m, err = c.compile(); err != nil {
			r.add(at, "budget", "could not be checked", nil)
			return
		}
	}
	m.left = completeBudget - values
	err, finished := m.run(value)
	if !finished {
		r.add(at, "budget", tooMuchWork, nil)
		return
	}
	c.machines.Put(m)
	var failure *jsonschema.ValidationError
	if errors.As(err, &failure) {
		reportFailure(r, n, at, failure)
	} else if err != nil {
		r.add(at, "schema", "does not satisfy the schema", nil)
	}
}

// run validates and reports whether it came to an end within the budget. A machine that did
// not is left in an unknown state.
func (m *completeMachine) run(value any) (err error, finished bool) {
	defer func() {
		if recover() != nil {
			finished = false
		}
	}()
	return m.schema.Validate(value), true
}

// measure counts the values in a valid JSON text, names of members among them, and reports
// whether every number can be written out.
func measure(text []byte) (values int, bounded bool) {
	for i := 0; i < len(text); {
		switch c := text[i]; {
		case c == '"':
			end, _, err := strictjson.String(text, i)
			if err != nil {
				return values, false
			}
			i = end
			values++
		case c == '-' || c-'0' <= 9:
			end, _, err := strictjson.Number(text, i)
			if err != nil {
				return values, false
			}
			d := parseDecimal(text[i:end])
			if end-i > 2*completeDigits || d.exp > completeDigits || d.exp < -completeDigits {
				return values, false
			}
			i = end
			values++
		default:
			if c == '{' || c == '[' || c == 't' || c == 'f' || c == 'n' {
				values++
			}
			i++
		}
	}
	return values, true
}

// reportFailure turns the leaves of a failure into faults, in the order of their places.
func reportFailure(r *report, n *node, at *path, failure *jsonschema.ValidationError) {
	var faults []Fault
	var walk func(*jsonschema.ValidationError)
	walk = func(e *jsonschema.ValidationError) {
		if _, choice := e.ErrorKind.(*kind.AnyOf); len(e.Causes) > 0 && !choice {
			for _, cause := range e.Causes {
				walk(cause)
			}
			return
		}
		pointer := r.appendPointer(nil, at)
		for _, token := range e.InstanceLocation[:n.openTokens(e.InstanceLocation)] {
			pointer = appendToken(append(pointer, '/'), cut(token, keyLimit))
		}
		faults = append(faults, Fault{Pointer: string(pointer), Rule: failureRule(e.ErrorKind), Message: failureMessage(e.ErrorKind)})
	}
	walk(failure)
	slices.SortStableFunc(faults, func(a, b Fault) int { return strings.Compare(a.Pointer, b.Pointer) })
	faults = slices.CompactFunc(faults, func(a, b Fault) bool { return a.Pointer == b.Pointer && a.Rule == b.Rule })
	for _, f := range faults {
		if !r.full() {
			r.faults = append(r.faults, f)
		}
	}
}

// openTokens returns how many tokens of a pointer into the value may be told: those that lead
// to a secret, and none below it.
func (n *node) openTokens(tokens []string) int {
	switch {
	case n == nil || len(tokens) == 0:
		return len(tokens)
	case n.secret:
		return 0
	}
	open := n.described.openTokens(tokens)
	for _, b := range n.branches {
		open = min(open, b.node.openTokens(tokens))
	}
	if n.union != nil {
		for _, v := range n.union.variants {
			open = min(open, v.openTokens(tokens))
		}
	}
	if n.arr != nil {
		open = min(open, 1+n.arr.items.openTokens(tokens[1:]))
	}
	if n.obj == nil {
		return open
	}
	below := n.obj.extra
	if i := n.obj.find([]byte(tokens[0])); i >= 0 {
		if below = n.obj.fields[i].node; n.obj.fields[i].secret {
			return min(open, 1)
		}
	}
	return min(open, 1+below.openTokens(tokens[1:]))
}

// failureRule names the keyword of a failure.
func failureRule(k jsonschema.ErrorKind) string {
	switch k.(type) {
	case *kind.Not:
		return "not"
	case *kind.FalseSchema:
		return "false"
	}
	if path := k.KeywordPath(); len(path) > 0 {
		return path[0]
	}
	return "schema"
}

// failureMessage words a failure without repeating the value, which may be secret or long.
func failureMessage(k jsonschema.ErrorKind) string {
	switch k := k.(type) {
	case *kind.Not:
		return "must not satisfy the schema under \"not\""
	case *kind.AnyOf:
		return "must satisfy at least one of the alternatives"
	case *kind.OneOf:
		if len(k.Subschemas) > 1 {
			return "must satisfy exactly one of the alternatives, not several"
		}
		return "must satisfy exactly one of the alternatives"
	case *kind.Required:
		return "lacks required members: " + strings.Join(k.Missing, ", ")
	case *kind.Dependency:
		return "a member that is there requires others: " + strings.Join(k.Missing, ", ")
	case *kind.DependentRequired:
		return "a member that is there requires others: " + strings.Join(k.Missing, ", ")
	case *kind.Type:
		return "must be of type " + strings.Join(k.Want, " or ") + ", not " + k.Got
	case *kind.MinItems:
		return fmt.Sprintf("must have at least %s, not %d", plural.Of(k.Want, "item"), k.Got)
	case *kind.MaxItems:
		return fmt.Sprintf("must have at most %s, not %d", plural.Of(k.Want, "item"), k.Got)
	case *kind.MinContains:
		return "must have at least " + plural.Of(k.Want, "item") + " to satisfy the schema under \"contains\""
	case *kind.MaxContains:
		return "must have at most " + plural.Of(k.Want, "item") + " to satisfy the schema under \"contains\""
	case *kind.Contains:
		return "must have an item that satisfies the schema under \"contains\""
	case *kind.FalseSchema:
		return "no value is allowed here; leave it out"
	}
	return "does not satisfy the schema"
}

// completed reads a value that the tree checks in part and the complete validator in full.
func (s *scanner) completed(n *node, at *path) bool {
	start, before := s.pos, len(s.faults)
	if !s.value(n.described, at, reflect.Value{}) {
		return false
	}
	if len(s.faults) > before {
		return !s.full()
	}
	text := s.data[start:s.pos]
	if n.defaults {
		filled, faults := filledValue(n.described, text)
		if faults != nil {
			s.faults = append(s.faults, faults...)
			return !s.full()
		}
		text = filled
	}
	n.complete.check(&s.report, n.described, at, text)
	return !s.full()
}
