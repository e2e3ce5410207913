// What the TypeScript clients of both generations need to obtain a token: a store in memory,
// and a browser in which somebody agrees to everything at once.

/** An OAuthClientProvider of either generation. */
export class Agreeing {
  #tokens;
  #verifier;
  /** What the authorization server sent back the last time. */
  callback;
  /** The scopes that were asked for, one entry for each time. */
  asked = [];

  get redirectUrl() {
    return 'http://127.0.0.1/callback';
  }

  get clientMetadata() {
    return { client_name: 'ambit-interop', redirect_uris: [this.redirectUrl], token_endpoint_auth_method: 'none' };
  }

  clientInformation() {
    return { client_id: 'ambit-interop' };
  }

  tokens() {
    return this.#tokens;
  }

  saveTokens(tokens) {
    this.#tokens = tokens;
  }

  codeVerifier() {
    return this.#verifier;
  }

  saveCodeVerifier(verifier) {
    this.#verifier = verifier;
  }

  async redirectToAuthorization(url) {
    this.asked.push(url.searchParams.get('scope'));
    const answer = await fetch(url, { redirect: 'manual' });
    this.callback = new URL(answer.headers.get('location')).searchParams;
  }
}

/**
 * Connects, calls both tools and prints what came of it. connect() makes a connected client, or
 * throws; finish(callback) hands over what the authorization server sent back.
 */
export async function run({ provider, Unauthorized, connect, finish }) {
  const authorized = async (act) => {
    try {
      return await act();
    } catch (error) {
      if (!(error instanceof Unauthorized)) throw error;
      await finish(provider.callback);
      return act();
    }
  };
  const client = await authorized(connect);
  const texts = [];
  for (const name of ['notes_read', 'notes_write', 'notes_read']) {
    const result = await authorized(() => client.callTool({ name, arguments: {} }));
    texts.push(result.content.find((block) => block.type === 'text')?.text);
  }
  await client.close();
  process.stdout.write(JSON.stringify({ texts, asked: provider.asked }) + '\n');
}
