package mcp

import (
	"context"
	"log/slog"
	"strings"

	"github.com/ambit-dev/ambit"
)

// maxToolName is one byte more than a tool's name can have: what is longer need
// not be looked up to be unknown.
const maxToolName = 65

// callTool answers tools/call.
func (x *exchange) callTool(m *message) *rpcError {
	p := &m.params
	switch {
	case !p.name.valid():
		return invalidParams("The member name must be a string.")
	case len(p.arguments) > 0 && p.arguments[0] == 'n':
		p.arguments = nil // clients in Go send null for a nil map
	case len(p.arguments) > 0 && p.arguments[0] != '{':
		return invalidParams("The member arguments must be an object.")
	}
	if x.busy {
		return x.fault(m, errBusy())
	}
	request := ambit.Request{Input: p.arguments, WantText: true, Trace: p.meta.trace(x.header)}
	object := false
	if t := x.tools[string(p.name.text)]; t != nil {
		request.Name, object = t.name, t.object
	} else {
		request.Name = string(p.name.text[:min(len(p.name.text), maxToolName)])
	}
	if refused := x.addBeside(&request, &p.meta); refused != nil {
		return x.fault(m, refused)
	}
	if x.revision.modern() {
		s, ok := x.openState(p, request.Name)
		if !ok {
			return x.fault(m, errState())
		}
		request.Repeats = s.operation
	}
	if x.listener != nil && p.meta.progressToken != nil {
		request.Progress = x.progress(p.meta.progressToken)
	}
	ctx, run := x.run(x.log(m))
	defer run.End()
	if x.batched {
		if refused := x.batchable(ctx, run, request.Name); refused != nil {
			return x.fault(m, refused)
		}
	}
	start := len(x.out)
	x.begin(m)
	structured := x.revision.structures(object)
	if structured {
		x.out = append(x.out, `"structuredContent":`...)
		request.Into = x.out
	} else {
		request.Into = x.scratch
	}
	result, err := run.Invoke(ctx, request)
	if err != nil {
		x.out = x.out[:start]
		return x.failed(ctx, run, m, request.Name, ambit.ErrorFrom(err, x.errorOptions()))
	}
	if structured {
		x.out = append(result.Buffer, ',')
	} else {
		x.scratch = result.Buffer
	}
	x.content(&result)
	x.endTool(&result)
	return nil
}

// endTool ends the result of a tool, and says whether it is that of an earlier
// call.
func (x *exchange) endTool(result *ambit.Result) {
	if !result.Replayed {
		x.end()
		return
	}
	x.openMeta()
	x.out = append(x.out, `"`+keyReplayed+`":true}}}`...)
}

// batchable refuses a tool of more than write within a batch (rule T30). Those
// who may not call it learn nothing by it.
func (x *exchange) batchable(ctx context.Context, run *ambit.Run, name string) *ambit.Error {
	if t := x.tools[name]; t == nil || t.effect <= ambit.Write || run.Admit(ctx, name) != nil {
		return nil
	}
	return ambit.Errorf(ambit.CodeInvalidInput, "This tool cannot be called within a batch.").WithHint("Send the call as a message of its own.")
}

// failed answers a call that the pipeline did not make or the handler did not
// finish.
func (x *exchange) failed(ctx context.Context, run *ambit.Run, m *message, name string, e *ambit.Error) *rpcError {
	e = x.identity.Explain(e, x.app.Development())
	switch e.Code {
	case ambit.CodeUnauthenticated, ambit.CodeAgentRequired, ambit.CodeInsufficientScope:
		if x.http && !x.batched {
			return x.refuse(e)
		}
	case ambit.CodeNotFound:
		// A handler may say so as well, of something that it looked for.
		if ambit.CodeOf(run.Admit(ctx, name)) == ambit.CodeNotFound {
			e = toolNamed(e, name)
			return &rpcError{number: numberInvalidParams, message: e.Message, data: x.errorObject(e)}
		}
	}
	if x.asksPerson(m, e) {
		return x.askPerson(m, name, e)
	}
	return x.fault(m, e)
}

// toolNamed adds to the answer for an unknown tool what is wrong with every name
// that has a dot, so that it says nothing about which ones there are (rule T07).
func toolNamed(e *ambit.Error, name string) *ambit.Error {
	if !strings.Contains(name, ".") {
		return e
	}
	c := *e
	c.Message += " Names of tools have underscores where those of capabilities have dots."
	return &c
}

// log returns what takes a handler's log, or nil where the client wants none.
// From 2026-07-28 on each request says so. Before, a session remembers the level
// that was set; without one the server chooses, and takes info.
func (x *exchange) log(m *message) func(slog.Level, string) {
	if x.listener == nil || x.revision.modern() && !m.params.meta.logLevel.set {
		return nil
	}
	least := levelInfo
	switch {
	case x.revision.modern():
		least = levelOf(m.params.meta.logLevel.text)
	case x.session != nil:
		least = x.session.logLevel()
	}
	return func(l slog.Level, text string) {
		if said := levelFrom(l); said >= least {
			x.listener.notify(appendLog(nil, said, text))
		}
	}
}

// setLevel answers logging/setLevel. Over HTTP there is no session that could
// keep the level.
func (x *exchange) setLevel(m *message) *rpcError {
	l := levelOf(m.params.level.text)
	if l == 0 {
		return invalidParams("The member level must be one of the eight levels.")
	}
	if x.session != nil {
		x.session.setLogLevel(l)
	}
	x.out = append(appendStart(x.out, m.id), "}}"...)
	return nil
}
