module github.com/ambit-dev/ambit/surface/mcp/interop

go 1.26

replace github.com/ambit-dev/ambit => ../../..

require (
	github.com/ambit-dev/ambit v0.0.0
	github.com/google/go-cmp v0.7.0 // indirect
	github.com/mark3labs/mcp-go v1.2.1 // indirect
	github.com/modelcontextprotocol/go-sdk v1.8.0 // indirect
	go.uber.org/goleak v1.3.0 // indirect
)
