// Runs one job with the TypeScript SDK's second generation, which speaks both eras.
import { Client, StreamableHTTPClientTransport } from '@modelcontextprotocol/client';
import { StdioClientTransport } from '@modelcontextprotocol/client/stdio';
import { job, observe, requestInit } from './observe.mjs';

const modes = { legacy: 'legacy', auto: 'auto', modern: { pin: '2026-07-28' } };

const { url, token, command, era, calls } = job();
const transport = url
  ? new StreamableHTTPClientTransport(new URL(url), { requestInit: requestInit({ token }) })
  : new StdioClientTransport({ command: command[0], args: command.slice(1) });
const client = new Client(
  { name: 'ambit-interop', version: '1.0.0' },
  { versionNegotiation: { mode: modes[era] } },
);

await client.connect(transport);
await observe(client, {
  version: client.getNegotiatedProtocolVersion(),
  calls,
  callTool: (params, options) => client.callTool(params, options),
});
await client.close();
