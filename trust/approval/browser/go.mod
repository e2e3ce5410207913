module github.com/ambit-dev/ambit/trust/approval/browser

go 1.26

replace github.com/ambit-dev/ambit => ../../..

require (
	github.com/ambit-dev/ambit v0.0.0
	github.com/chromedp/cdproto v0.160.1
	github.com/chromedp/chromedp v0.23.1
	go.uber.org/goleak v1.3.0
)

require (
	github.com/go-json-experiment/json v1.27.2 // indirect
	github.com/santhosh-tekuri/jsonschema/v6 v6.0.3 // indirect
	golang.org/x/text v0.14.0 // indirect
)
