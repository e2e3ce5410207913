package schema

import (
	"encoding/json"
	"fmt"
	"reflect"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

// TestTagMistakes shows that every mistake names type, field and tag and says what to do.
func TestTagMistakes(t *testing.T) {
	t.Parallel()
	tests := []struct {
		goType reflect.Type
		tag    string
		want   string
	}{
		{reflect.TypeFor[string](), `json:"a" minLenght:"1"`, "A: tag minLenght: is not known; did you mean minLength?"},
		{reflect.TypeFor[string](), `json:"a" min_length:"1"`, "did you mean minLength?"},
		{reflect.TypeFor[string](), `json:"a" MaxLength:"1"`, "did you mean maxLength?"},
		{reflect.TypeFor[string](), `json:"a" description:"x"`, "did you mean doc?"},
		{reflect.TypeFor[int](), `json:"a" min:"1"`, "did you mean minimum?"},
		{reflect.TypeFor[int](), `jsn:"a"`, "did you mean json?"},
		{reflect.TypeFor[int](), `json:"a" minimum:"one"`, `A: tag minimum: "one" is not a JSON number`},
		{reflect.TypeFor[int](), `json:"a" minimum:"1.5"`, "not a whole number"},
		{reflect.TypeFor[uint8](), `json:"a" maximum:"300"`, "outside of what uint8 holds"},
		{reflect.TypeFor[int](), `json:"a" minimum:"5" maximum:"4"`, "no value fits"},
		{reflect.TypeFor[float64](), `json:"a" multipleOf:"0"`, "greater than 0"},
		{reflect.TypeFor[string](), `json:"a" minimum:"1"`, "tag minimum: is for numbers, not for string"},
		{reflect.TypeFor[int](), `json:"a" minLength:"1"`, "tag minLength: is for strings, not for int"},
		{reflect.TypeFor[string](), `json:"a" minItems:"1"`, "tag minItems: is for slices, not for string"},
		{reflect.TypeFor[string](), `json:"a" minLength:"-1"`, "tag minLength: must be a whole number"},
		{reflect.TypeFor[string](), `json:"a" minLength:"3" maxLength:"2"`, "no value fits"},
		{reflect.TypeFor[string](), `json:"a" pattern:"(?=x)"`, "patterns are RE2"},
		{reflect.TypeFor[string](), `json:"a" format:"mail"`, `tag format: "mail" is not known; known are date`},
		{reflect.TypeFor[[]int](), `json:"a" uniqueItems:"yes"`, `must be "true" or "false"`},
		{reflect.TypeFor[bool](), `json:"a" enum:"true"`, "tag enum: is for strings and numbers"},
		{reflect.TypeFor[int](), `json:"a" enum:"1,x"`, `tag enum: "x" does not fit`},
		{reflect.TypeFor[string](), `json:"a" enum:"x,x"`, "twice"},
		{reflect.TypeFor[string](), `json:"a" enum:"x, y"`, "a blank stands beside a comma"},
		{reflect.TypeFor[int](), `json:"a" enum:"1 ,2"`, "a blank stands beside a comma"},
		{reflect.TypeFor[color](), `json:"a" enum:"red"`, "Enum method"},
		{reflect.TypeFor[int](), `json:"a" default:"0"`, "make the field a *int"},
		{reflect.TypeFor[bool](), `json:"a" default:"true"`, "make the field a *bool"},
		{reflect.TypeFor[*int](), `json:"a" default:"x"`, "A: tag default:"},
		{reflect.TypeFor[*int](), `json:"a" default:"5" maximum:"4"`, "does not fit the field"},
		{reflect.TypeFor[*int](), `json:"a" default:"5" nullable:"true"`, "remove nullable or default"},
		{reflect.TypeFor[*int](), `json:"a" default:"5" required:"true"`, "remove one of the tags"},
		{reflect.TypeFor[int](), `json:"a,omitempty" required:"true"`, "remove omitempty"},
		{reflect.TypeFor[int](), `json:"a" nullable:"true"`, "make the field a pointer"},
		{reflect.TypeFor[string](), `json:"a" secret:"true" example:"x"`, "a secret field has no example"},
		{reflect.TypeFor[*string](), `json:"a" secret:"true" default:"x"`, "a secret field has no default"},
		{reflect.TypeFor[int](), `json:"a" example:"x"`, "A: tag example:"},
		{reflect.TypeFor[string](), `json:"a" doc:""`, "tag doc: must be valid text"},
		{reflect.TypeFor[int](), `json:"a,string"`, `the option "string"`},
		{reflect.TypeFor[int](), `json:"a,inline"`, `the option "inline" is not known`},
		{reflect.TypeFor[int](), `json:"a" json:"b"`, "is given twice"},
		{reflect.TypeFor[int](), `json:"a"minimum`, "malformed"},
		{reflect.TypeFor[int](), `json:a`, "quotation marks"},
		{reflect.TypeFor[chan int](), ``, "chan has no JSON form"},
		{reflect.TypeFor[func()](), ``, "func has no JSON form"},
		{reflect.TypeFor[complex128](), ``, "complex128 has no JSON form"},
		{reflect.TypeFor[map[int]string](), ``, "keys of a map must be plain strings"},
		{reflect.TypeFor[json.Number](), ``, "json.Number has no fixed form"},
		{reflect.TypeFor[error](), ``, "declare its variants"},
		{reflect.TypeFor[onlyMarshals](), ``, "has one of MarshalJSON and UnmarshalJSON"},
		{reflect.TypeFor[badEnum](), ``, "must take nothing and return a slice"},
		{reflect.TypeFor[panickyEnum](), ``, "panics on the zero value"},
		{reflect.TypeFor[badDescription](), ``, "the JSONSchema method of schema.badDescription"},
	}
	for _, test := range tests {
		_, err := ForType(holder(test.goType, test.tag), Options{})
		if err == nil || !strings.Contains(err.Error(), test.want) || !strings.Contains(err.Error(), "A: ") {
			t.Errorf("%s %s:\nwant an error with %q\ngot %v", test.goType, test.tag, test.want, err)
		}
	}
}

// holder is a struct with one field, named A.
func holder(t reflect.Type, tag string) reflect.Type {
	return reflect.StructOf([]reflect.StructField{{Name: "A", Type: t, Tag: reflect.StructTag(tag)}})
}

// TestStructsWithoutANameAreNamedShortly keeps all the fields of such a struct out of errors.
func TestStructsWithoutANameAreNamedShortly(t *testing.T) {
	t.Parallel()
	type named struct {
		A map[string][]struct {
			B string `json:"b" minimum:"1"`
		} `json:"a"`
	}
	tests := []struct {
		goType reflect.Type
		want   string
	}{
		{holder(reflect.TypeFor[string](), `json:"a" minimum:"1"`), "schema: struct{…}: A: tag minimum: is for numbers, not for string"},
		{reflect.TypeFor[named](), "schema: schema.named: schema.named.A: map[string][]struct{…}: []struct{…}: B: tag minimum: is for numbers, not for string"},
		{reflect.TypeFor[*[2]struct{ b int }](), "schema: *[2]struct{…}: [2]struct{…}: struct{…} has fields but none that is exported; export them or define MarshalText and UnmarshalText"},
		{holder(reflect.TypeFor[map[string]struct{}](), `json:"a" minItems:"1"`), "schema: struct{…}: A: tag minItems: is for slices, not for map[string]struct{…}"},
	}
	for _, test := range tests {
		_, err := ForType(test.goType, Options{})
		if diff := cmp.Diff(test.want, fmt.Sprint(err)); diff != "" {
			t.Errorf("error (-want +got):\n%s", diff)
		}
	}
}

func TestTypeMistakes(t *testing.T) {
	t.Parallel()
	type embedsPointer struct{ *circle }
	type embedsTime struct{ time.Time }
	type hidesAll struct{ _ int }
	type tagsHidden struct {
		_ int `doc:"x"`
		B int
	}
	type deep struct{ order }
	type shadowed struct {
		order
		deep
		Title int `json:"title"`
	}
	clash := reflect.StructOf([]reflect.StructField{
		{Name: "A", Type: reflect.TypeFor[int](), Tag: `json:"x"`}, {Name: "B", Type: reflect.TypeFor[int](), Tag: `json:"x"`},
	})
	tests := []struct {
		goType reflect.Type
		want   string
	}{
		{nil, "the type is nil"},
		{reflect.TypeFor[embedsPointer](), "embedded pointer"},
		{reflect.TypeFor[embedsTime](), "embedded field Time"},
		{reflect.TypeFor[hidesAll](), "none that is exported"},
		{reflect.TypeFor[tagsHidden](), "not exported"},
		{clash, `both have the name "x"`},
		{reflect.TypeFor[shadowed](), ""},
	}
	for _, test := range tests {
		_, err := ForType(test.goType, Options{})
		if (err == nil) != (test.want == "") || err != nil && !strings.Contains(err.Error(), test.want) {
			t.Errorf("%v: want an error with %q, got %v", test.goType, test.want, err)
		}
	}
}

type (
	onlyMarshals   struct{}
	badEnum        string
	panickyEnum    string
	badDescription struct{}
)

func (onlyMarshals) MarshalJSON() ([]byte, error)    { return []byte("1"), nil }
func (badEnum) Enum(int) string                      { return "" }
func (panickyEnum) Enum() []string                   { panic("no") }
func (badDescription) MarshalJSON() ([]byte, error)  { return []byte("1"), nil }
func (*badDescription) UnmarshalJSON(_ []byte) error { return nil }
func (badDescription) JSONSchema() string            { return `{"$ref":"#"}` }

// TestForeignTags shows that the tags of others are left alone.
func TestForeignTags(t *testing.T) {
	t.Parallel()
	type foreign struct {
		A int `json:"a" db:"a" yaml:"a" xml:"a" form:"a" validate:"min=1" gorm:"column:a" bson:"a" env:"A" query:"a" header:"a" path:"a" url:"a" mapstructure:"a" toml:"a"`
	}
	mustFor[foreign](t)
}

func FuzzTags(f *testing.F) {
	for _, seed := range []string{
		`json:"a,omitempty" minLength:"1" maxLength:"5"`, `default:"x" minLength:"1"`, `enum:"a,b" example:"a"`,
		`pattern:"^a+$" format:"email"`, `nullable:"true"`, `required:"false" secret:"true"`, `minLenght:"1"`, `json`, `:`, `a:"`,
	} {
		f.Add(seed)
	}
	types := []reflect.Type{
		reflect.TypeFor[string](), reflect.TypeFor[int](), reflect.TypeFor[*float64](), reflect.TypeFor[[]string](),
		reflect.TypeFor[*color](), reflect.TypeFor[map[string]int8](), reflect.TypeFor[time.Duration](), reflect.TypeFor[[]byte](),
	}
	f.Fuzz(func(t *testing.T, tag string) {
		for _, goType := range types {
			s, err := ForType(holder(goType, tag), Options{})
			if err != nil {
				if !strings.Contains(err.Error(), "A") {
					t.Errorf("the error does not name the field: %v", err)
				}
				continue
			}
			if _, err := Parse(s.JSON()); err != nil {
				t.Errorf("tag %q gives a schema that does not parse: %v\n%s", tag, err, s.JSON())
			}
			v := reflect.New(s.goType).Elem()
			s.Complete(v)
			if out, faults := s.Append(nil, v); faults == nil && s.Check(out, 0) != nil {
				t.Errorf("tag %q: Append wrote %s, which Check refuses", tag, out)
			}
		}
	})
}
