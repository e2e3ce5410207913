package principalkey_test

import (
	"testing"

	"github.com/ambit-dev/ambit"
	"github.com/ambit-dev/ambit/internal/principalkey"
)

func TestKeys(t *testing.T) {
	t.Parallel()
	key := func(tenant, authority, subject string) string {
		return (&ambit.Principal{Tenant: tenant, Authority: authority, Subject: subject}).Key()
	}
	for _, test := range []struct{ key, without, name string }{
		{key("acme", "apikey", "robot"), "6:apikey/robot", "robot (apikey)"},
		{key("", "stdio", "editor"), "5:stdio/editor", "editor (stdio)"},
		{key("a/b:c", "https://issuer.example/", "7:x/y"), "23:https://issuer.example//7:x/y", "7:x/y (https://issuer.example/)"},
		{key("acme", "", ""), "0:/", "anonymous"},
		{"", "", ""},
		{"robot", "robot", "robot"},
		{"4:acme/robot", "robot", "4:acme/robot"},
		{"9:acme/6:apikey/robot", "9:acme/6:apikey/robot", "9:acme/6:apikey/robot"},
		{"-1:/5:stdio/x", "-1:/5:stdio/x", "-1:/5:stdio/x"},
	} {
		if got := principalkey.WithoutTenant(test.key); test.without != got {
			t.Errorf("WithoutTenant(%q): want %q, got %q", test.key, test.without, got)
		}
		if got := principalkey.Name(test.key); test.name != got {
			t.Errorf("Name(%q): want %q, got %q", test.key, test.name, got)
		}
	}
}

func TestSplit(t *testing.T) {
	t.Parallel()
	for _, p := range []*ambit.Principal{
		{Tenant: "acme", Authority: "apikey", Subject: "robot"},
		{Authority: "stdio", Subject: "editor"},
		{Tenant: "a/b:c", Authority: "https://issuer.example/", Subject: "7:x/y"},
		{Tenant: "acme"},
	} {
		tenant, authority, subject, ok := principalkey.Split(p.Key())
		if !ok || tenant != p.Tenant || authority != p.Authority || subject != p.Subject {
			t.Errorf("Split(%q): got %q, %q, %q, %t", p.Key(), tenant, authority, subject, ok)
		}
	}
	for _, key := range []string{"", "robot", "4:acme/robot", "9:acme/6:apikey/robot", "-1:/5:stdio/x", "04:acme/6:apikey/robot", "4:acme/+6:apikey/robot"} {
		if _, _, _, ok := principalkey.Split(key); ok {
			t.Errorf("Split(%q): want it to be no key", key)
		}
	}
}
