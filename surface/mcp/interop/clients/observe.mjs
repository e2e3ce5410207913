// The steps that the TypeScript clients take, one generation of the SDK or the other.
//
// A job arrives as JSON in the first argument:
//
//   { "url": "...", "token": "...", "command": ["prog", "arg"], "era": "...", "shows": false,
//     "calls": [{ "name": "...", "arguments": {...}, "acknowledge": "...", "state": "...", "accepts": false }] }
//
// Either url (with an optional bearer token) or command is set. With shows, the client
// declares that it can show a person an address, and goes to each that it is given. What the client saw is
// printed to standard output as one JSON object; client_test.go declares both shapes.

/** The job that this process was started with. */
export function job() {
  return JSON.parse(process.argv[2]);
}

/** Headers that carry the job's credential, as the HTTP transports take them. */
export function requestInit({ token }) {
  return token ? { headers: { Authorization: `Bearer ${token}` } } : {};
}

/**
 * Lists the tools of a connected client, makes the job's calls and prints the observation.
 * callTool(params, options) hides that the two generations order their arguments differently.
 */
export async function observe(client, { version, calls, callTool }) {
  const tools = [];
  let cursor;
  do {
    const page = await client.listTools(cursor ? { cursor } : undefined);
    tools.push(...page.tools.map((tool) => tool.name));
    cursor = page.nextCursor;
  } while (cursor);

  const outcomes = [];
  for (const call of calls) {
    outcomes.push(await outcome(call, callTool));
  }
  const observation = { version, server: client.getServerVersion()?.name, tools, outcomes };
  process.stdout.write(JSON.stringify(observation) + '\n');
}

// A call that names a tool to acknowledge with asks for progress, and answers each step.
// One that has a state or accepts is sent as if it repeated a call whose answer asked for that.
async function outcome({ name, arguments: args, acknowledge, state, accepts }, callTool) {
  const params = { name, arguments: args };
  if (state) params.requestState = state;
  if (accepts) params.inputResponses = { approval: { action: 'accept' } };
  const steps = [];
  const acknowledgments = [];
  const onprogress = ({ progress: step }) => {
    steps.push(step);
    acknowledgments.push(callTool({ name: acknowledge, arguments: { ...args, step } }));
  };
  try {
    const result = await callTool(params, acknowledge ? { onprogress } : undefined);
    await Promise.all(acknowledgments);
    return {
      text: result.content.find((block) => block.type === 'text')?.text,
      structured: result.structuredContent,
      isError: result.isError,
      progress: acknowledge ? steps : undefined,
    };
  } catch (error) {
    // Only an error that the server answered has a number; anything else is a fault of the run.
    if (typeof error.code !== 'number') throw error;
    return { code: error.code };
  }
}
