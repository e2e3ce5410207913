// Obtains tokens with the TypeScript SDK's first generation: when it connects, and once more for
// a tool that needs another scope.
import { Client } from '@modelcontextprotocol/sdk/client/index.js';
import { UnauthorizedError } from '@modelcontextprotocol/sdk/client/auth.js';
import { StreamableHTTPClientTransport } from '@modelcontextprotocol/sdk/client/streamableHttp.js';
import { Agreeing, run } from './authorize.mjs';

const [url] = process.argv.slice(2);
const provider = new Agreeing();
let transport;

await run({
  provider,
  Unauthorized: UnauthorizedError,
  connect: async () => {
    transport = new StreamableHTTPClientTransport(new URL(url), { authProvider: provider });
    const client = new Client({ name: 'ambit-interop', version: '1.0.0' });
    await client.connect(transport);
    return client;
  },
  finish: (callback) => transport.finishAuth(callback.get('code')),
});
