// Runs one job with the TypeScript SDK's first generation, which knows initialize alone.
import { Client } from '@modelcontextprotocol/sdk/client/index.js';
import { StdioClientTransport } from '@modelcontextprotocol/sdk/client/stdio.js';
import { StreamableHTTPClientTransport } from '@modelcontextprotocol/sdk/client/streamableHttp.js';
import { job, observe, requestInit } from './observe.mjs';

const { url, token, command, calls } = job();
const transport = url
  ? new StreamableHTTPClientTransport(new URL(url), { requestInit: requestInit({ token }) })
  : new StdioClientTransport({ command: command[0], args: command.slice(1) });

// The client tells its transport, and no one else, what was negotiated.
let version;
const remember = transport.setProtocolVersion?.bind(transport);
transport.setProtocolVersion = (negotiated) => {
  version = negotiated;
  remember?.(negotiated);
};

const client = new Client({ name: 'ambit-interop', version: '1.0.0' });
await client.connect(transport);
await observe(client, {
  version,
  calls,
  callTool: (params, options) => client.callTool(params, undefined, options),
});
await client.close();
