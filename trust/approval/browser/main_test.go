// Package browser_test drives the approvals page in Chromium, as a person does
// and as other sites do: what a browser sends, shows and lets a keyboard reach is
// for a browser to say.
package browser_test

import (
	"context"
	"errors"
	"io"
	"os"
	"os/exec"
	"testing"
	"time"

	"github.com/chromedp/cdproto/cdp"
	"github.com/chromedp/cdproto/emulation"
	"github.com/chromedp/chromedp"
	"go.uber.org/goleak"

	"github.com/ambit-dev/ambit/internal/leaktest"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(leaktest.Patient(m)) }

// chromium returns the path of a browser. A test that has none is skipped, or
// fails where CI says that everything has to run.
func chromium(t *testing.T) string {
	t.Helper()
	for _, name := range []string{"chromium", "chromium-browser", "google-chrome"} {
		if path, err := exec.LookPath(name); err == nil {
			return path
		}
	}
	if os.Getenv("CI") == "true" {
		t.Fatal("Chromium is missing (Debian: apt-get install chromium)")
	}
	t.Skip("Chromium is missing (Debian: apt-get install chromium)")
	return ""
}

// newBrowser starts a browser of the test's own. Every name that ends in .example
// is this machine for it.
func newBrowser(t *testing.T) context.Context {
	t.Helper()
	options := append(chromedp.DefaultExecAllocatorOptions[:],
		chromedp.ExecPath(chromium(t)), chromedp.NoSandbox, // which root cannot have
		chromedp.Flag("host-resolver-rules", "MAP *.example 127.0.0.1"), chromedp.CombinedOutput(io.Discard),
		chromedp.WSURLReadTimeout(time.Hour), // only a browser that hangs takes so long to start
	)
	allocated, stop := chromedp.NewExecAllocator(context.Background(), options...)
	ctx, end := chromedp.NewContext(allocated, chromedp.WithErrorf(t.Logf))
	t.Cleanup(func() {
		if err := chromedp.Cancel(ctx); err != nil && !errors.Is(err, context.Canceled) {
			t.Errorf("closing the browser: %v", err)
		}
		end()
		stop()
	})
	if err := chromedp.Do(ctx); err != nil {
		t.Fatal(err)
	}
	return ctx
}

// run does things in the browser.
func run(t *testing.T, ctx context.Context, steps ...chromedp.Action[chromedp.Void]) {
	t.Helper()
	if err := chromedp.Do(ctx, steps...); err != nil {
		t.Fatal(err)
	}
}

// value evaluates an expression in the page, which the page itself could not.
func value[T any](t *testing.T, ctx context.Context, expression string) T {
	t.Helper()
	v, err := chromedp.Run(ctx, chromedp.Evaluate[T](expression))
	if err != nil {
		t.Fatal(err)
	}
	return v
}

// window sets the size of the window, and whether it is dark.
func window(width, height int64, scheme string) chromedp.Action[chromedp.Void] {
	return chromedp.Steps(chromedp.EmulateViewport(width, height), chromedp.Func(func(ctx context.Context, tab *chromedp.Target) error {
		features := []*emulation.MediaFeature{{Name: "prefers-color-scheme", Value: scheme}}
		_, err := cdp.Call(ctx, tab, emulation.SetEmulatedMedia, emulation.SetEmulatedMediaParams{Features: features})
		return err
	}))
}

// withoutScripts has pages run no scripts of their own, as some people have it.
func withoutScripts() chromedp.Action[chromedp.Void] {
	return chromedp.Func(func(ctx context.Context, tab *chromedp.Target) error {
		_, err := cdp.Call(ctx, tab, emulation.SetScriptExecutionDisabled, emulation.SetScriptExecutionDisabledParams{Value: true})
		return err
	})
}

// script runs in the page.
func script(text string) chromedp.Action[chromedp.Void] {
	return chromedp.Func(func(ctx context.Context, tab *chromedp.Target) error {
		_, err := chromedp.Evaluate[any]("void ("+text+")")(ctx, tab)
		return err
	})
}
