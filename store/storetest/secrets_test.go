package storetest

import (
	"encoding/base64"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"net/url"
	"strings"
	"testing"
)

// A secret that is there in some form is found, and no other one.
func TestReads(t *testing.T) {
	t.Parallel()
	for before := range 7 {
		text := strings.Repeat("é", before/2) + strings.Repeat("x", before%2) + secret() + "end"
		quoted, err := json.Marshal(text)
		if err != nil {
			t.Fatal(err)
		}
		for name, form := range map[string]string{
			"plain": text, "JSON": string(quoted), "Go": fmt.Sprintf("%+q", text), "URL": url.QueryEscape(text), "hexadecimal": hex.EncodeToString([]byte(text)),
			"upper hexadecimal": strings.ToUpper(hex.EncodeToString([]byte(text))), "base64": base64.StdEncoding.EncodeToString([]byte(text)),
			"base64url": base64.RawURLEncoding.EncodeToString(quoted), "base64 in JSON": `{"data":"` + base64.StdEncoding.EncodeToString(quoted) + `"}`,
		} {
			if !reads([]byte(form), secretPart) {
				t.Errorf("%s, after %d bytes: want it found in %s", name, before, form)
			}
			if reads([]byte(form), openPart) {
				t.Errorf("%s: want nothing else found in %s", name, form)
			}
		}
	}
}
