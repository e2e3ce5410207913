package ambitotel

import (
	"go.opentelemetry.io/otel/attribute"

	"github.com/ambit-dev/ambit"
)

// Attributes of the project's own.
const (
	keyCapability    = attribute.Key("ambit.capability")
	keyEffect        = attribute.Key("ambit.effect")
	keySurface       = attribute.Key("ambit.surface")
	keyVia           = attribute.Key("ambit.via")
	keyRun           = attribute.Key("ambit.run")
	keyCall          = attribute.Key("ambit.call")
	keyParent        = attribute.Key("ambit.parent")
	keyRequest       = attribute.Key("ambit.request")
	keyPrincipal     = attribute.Key("ambit.principal")
	keyPrincipalKind = attribute.Key("ambit.principal.kind")
	keyTenant        = attribute.Key("ambit.tenant")
	keyDelegatedBy   = attribute.Key("ambit.delegated_by")
	keyRan           = attribute.Key("ambit.ran")
	keyWaited        = attribute.Key("ambit.waited")
	keyFaults        = attribute.Key("ambit.faults")
	keyRepaired      = attribute.Key("ambit.repaired")
	keyLimit         = attribute.Key("ambit.limit")
	keyInputSize     = attribute.Key("ambit.input.size")
	keyOutputSize    = attribute.Key("ambit.output.size")
)

// Attributes of OpenTelemetry's semantic conventions: general, GenAI and MCP.
const (
	keyErrorType = attribute.Key("error.type")
	keyOperation = attribute.Key("gen_ai.operation.name")
	keyToolName  = attribute.Key("gen_ai.tool.name")
	keyMCPMethod = attribute.Key("mcp.method.name")
)

const (
	executeTool = "execute_tool"
	toolsCall   = "tools/call"
)

// What stands where a name would be a foreign word, or one of too many.
const (
	unknown = "(unknown)"
	ofRun   = "(run)"
	other   = "_OTHER" // the conventions' word for an error outside of the set
)

// known is what a span says of its call from the start, so that a sampler can
// decide by it.
func (o *observer) known(e ambit.Event) []attribute.KeyValue {
	attributes := append(make([]attribute.KeyValue, 0, 16),
		keySurface.String(e.Surface.String()), keyVia.String(e.Via.String()), keyRun.String(e.Run.String()),
		keyCall.String(e.Call.String()), keyPrincipalKind.String(e.Kind.String()))
	attributes = append(attributes, identity(e)...)
	if isTool(e) {
		attributes = append(attributes, keyOperation.String(executeTool))
	}
	if e.Surface == ambit.MCP {
		attributes = append(attributes, keyMCPMethod.String(toolsCall))
	}
	if e.Parent != 0 {
		attributes = append(attributes, keyParent.String(e.Parent.String()))
	}
	if e.Request != "" {
		attributes = append(attributes, keyRequest.String(e.Request))
	}
	if o.principals {
		attributes = append(attributes, keyPrincipal.String(e.Principal))
		if e.DelegatedBy != "" {
			attributes = append(attributes, keyDelegatedBy.String(e.DelegatedBy))
		}
	}
	if o.tenants && e.Tenant != "" {
		attributes = append(attributes, keyTenant.String(e.Tenant))
	}
	return attributes
}

// identity is what a span says of the capability.
func identity(e ambit.Event) []attribute.KeyValue {
	if e.Capability == "" {
		attributes := []attribute.KeyValue{keyCapability.String(unknown), keyEffect.String(unknown)}
		if isTool(e) {
			attributes = append(attributes, keyToolName.String(unknown))
		}
		return attributes
	}
	attributes := []attribute.KeyValue{keyCapability.String(e.Capability), keyEffect.String(e.Effect.String())}
	if isTool(e) {
		attributes = append(attributes, keyToolName.String(toolName(e.Capability)))
	}
	return attributes
}

// outcome is what a span says of its call at the end.
func outcome(e ambit.Event) []attribute.KeyValue {
	attributes := append(make([]attribute.KeyValue, 0, 8), keyRan.Bool(e.Ran))
	if e.Code != "" {
		attributes = append(attributes, errorType(e))
	}
	if e.Limit != 0 {
		attributes = append(attributes, keyLimit.String(e.Limit.String()))
	}
	if e.Waited > 0 {
		attributes = append(attributes, keyWaited.Float64(e.Waited.Seconds()))
	}
	if e.Faults > 0 {
		attributes = append(attributes, keyFaults.Int(e.Faults))
	}
	if e.Repaired > 0 {
		attributes = append(attributes, keyRepaired.Int(e.Repaired))
	}
	if e.InputBytes > 0 {
		attributes = append(attributes, keyInputSize.Int(e.InputBytes))
	}
	if e.OutputBytes > 0 {
		attributes = append(attributes, keyOutputSize.Int(e.OutputBytes))
	}
	return attributes
}

// errorType is the code of a call that failed.
func errorType(e ambit.Event) attribute.KeyValue {
	if !e.Code.Valid() {
		return keyErrorType.String(other)
	}
	return keyErrorType.String(string(e.Code))
}
