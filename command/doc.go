// Package command is the command line that an application gets: it serves the
// application, speaks MCP over stdio, lists capabilities and calls them.
//
//	func main() {
//		app := ambit.New(ambit.Options{Name: "hello"})
//		app.Add(greet)
//		command.Main(app, command.Options{})
//	}
//
// That program is
//
//	hello [serve] [--addr 127.0.0.1:8080]       HTTP and MCP on one address
//	hello mcp     [--as NAME]                   MCP over standard input and output
//	hello list    [--as NAME] [--json]          what may be called
//	hello whoami  [--as NAME]                   the key of that principal
//	hello call    [--as NAME] CAPABILITY [INPUT]  one call
//	hello key     create|list|expire|rotate|revoke  care for API keys
//	hello approvals ...                         decide about what waits for a person
//	hello grants  give|list|show|revoke         allow calls in advance
//	hello audit   ...                           read and verify the audit record
//	hello agent   keygen|sign                   be an agent that signs its requests
//	hello halt    WHAT...                       stop calls on every instance
//	hello halts                                 what is stopped
//	hello resume  --form FORM                   let calls go on
//
// An application that has to read flags of its own before it can be built is a
// [Program].
//
// # On whose behalf
//
// Calls from the command line pass every check that other calls pass. They are
// made as the principal that --as names, which [Options.Principals] finds.
// Nobody is all-powerful for sitting at a terminal: an application that knows
// its callers, by Principals or by an authenticator of [Options.Serve], refuses
// to list, to call and to speak MCP until --as says as whom. An application that
// knows none calls as an anonymous principal, who may call what is
// [ambit.Public] or what the application's policy gives to anonymous callers.
//
// --as asks for no credential. Whoever can start the program can read what it
// reads; who that is, is for the operating system to say. Of those who decide, grant
// or read the audit record [Options.Prove] can ask for more.
//
// # Keys
//
// The commands below key make API keys in [Options.Keys], list them and end them.
// Servers that use the same store need no new start. Whatever changes a key takes a
// person at a terminal, and nothing that is served does any of it.
//
// # Who is asked
//
// A call that takes somebody's word (see [ambit.Mode] and [ambit.Spec]) is shown
// and asked about on the terminal: "y" or "yes" run it, "s" or "session" also
// what the call calls again, anything else, the end of the input and an interrupt
// do not. Without a terminal nobody is asked, and the call is declined. --yes
// answers where the caller's own word is enough, never for a person who has to
// approve, and never what the application's monitor has against a call. --mode
// asks about more than is configured.
//
// # Halt
//
// The halt command adds to what is stopped in the application's store
// ([Options.Halts]), or by a halt file ([ambit.HaltFile]), which --halt-file names,
// or AMBIT_HALT_FILE, or else [Options.HaltFile]; where the program has both, --form
// says which. The serve, mcp and call commands obey both. The resume command
// releases one of them when a person on a terminal says so. While serve or mcp
// runs, SIGUSR1 stops every call of that process and SIGUSR2 releases what SIGUSR1
// stopped, on systems that have them.
//
// # What goes where
//
// Standard output has the result and nothing else: JSON in one line, laid out in
// several on a terminal. A failure is the error object, in the form that it has on
// every surface, in the last line of standard error; what the application logs to
// standard error comes before it. The exit code is the one of the error's row in
// the table of errors:
//
//	0    it worked
//	1    the application failed, or could not start
//	2    usage or input
//	3    no permission
//	4    no such capability or thing
//	5    a conflict, or a confirmation is needed
//	6    limited or unavailable: later it may work
//	130  interrupted
//
// What keeps an application from starting at all is plain text, not an error
// object. Progress and what a handler logs for its caller are shown on standard
// error while it is a terminal. All text is shown with control characters,
// invisible characters and letters that pass for others escaped.
//
// An interrupt (SIGINT) or SIGTERM ends the command in good order: a call is
// canceled, a server stops, with exit code 0. A second one kills it.
package command
