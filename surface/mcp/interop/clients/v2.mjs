// Runs one job with the TypeScript SDK's second generation, which speaks both eras.
import { Client, StreamableHTTPClientTransport } from '@modelcontextprotocol/client';
import { StdioClientTransport } from '@modelcontextprotocol/client/stdio';
import { job, observe, requestInit } from './observe.mjs';

const modes = { legacy: 'legacy', auto: 'auto', modern: { pin: '2026-07-28' } };

const { url, token, command, era, calls, shows } = job();
const transport = url
  ? new StreamableHTTPClientTransport(new URL(url), { requestInit: requestInit({ token }) })
  : new StdioClientTransport({ command: command[0], args: command.slice(1) });
const client = new Client(
  { name: 'ambit-interop', version: '1.0.0' },
  { versionNegotiation: { mode: modes[era] }, capabilities: shows ? { elicitation: { url: {} } } : {} },
);
if (shows) {
  client.setRequestHandler('elicitation/create', async ({ params }) => {
    if (params.mode !== 'url') throw new Error(`want an address to show, got the mode ${params.mode}`);
    const answer = await fetch(params.url);
    if (!answer.ok) throw new Error(`${params.url}: ${answer.status}`);
    return { action: 'accept' };
  });
}

await client.connect(transport);
await observe(client, {
  version: client.getNegotiatedProtocolVersion(),
  calls,
  callTool: (params, options) => client.callTool(params, options),
});
await client.close();
