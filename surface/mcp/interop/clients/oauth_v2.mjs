// Obtains tokens with the TypeScript SDK's second generation: when it connects, and once more for
// a tool that needs another scope. The era is legacy or modern.
import { Client, StreamableHTTPClientTransport, UnauthorizedError } from '@modelcontextprotocol/client';
import { Agreeing, run } from './authorize.mjs';

const modes = { legacy: 'legacy', modern: { pin: '2026-07-28' } };
const [url, era] = process.argv.slice(2);
const provider = new Agreeing();
let transport;

await run({
  provider,
  Unauthorized: UnauthorizedError,
  connect: async () => {
    transport = new StreamableHTTPClientTransport(new URL(url), { authProvider: provider });
    const client = new Client(
      { name: 'ambit-interop', version: '1.0.0' },
      { versionNegotiation: { mode: modes[era] } },
    );
    await client.connect(transport);
    return client;
  },
  finish: (callback) => transport.finishAuth(callback),
});
