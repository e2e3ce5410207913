// Signs and verifies HTTP messages with packages that know nothing of Ambit.
//
// A job arrives as JSON in the first argument:
//
//   { "with": "http-message-sig" | "web-bot-auth" | "verify", "jwk": {...},
//     "message": { "method": "...", "url": "...", "headers": [["name", "value"]], "status": 200 },
//     "label": "...", "components": [["name", "key of a member", "req"]], "parameters": {...} }
//
// A message with a status is a response, and the rest of it the request that it answers,
// but for the headers. What is printed is a JSON object: the headers of a signature, or
// whether one was verified; signatures_test.go declares both shapes.

import { component, createSignature, verifySignature, webcrypto } from 'http-message-sig';
import { signatureHeaders } from 'web-bot-auth';
import { signerFromJWK } from 'web-bot-auth/crypto';

const job = JSON.parse(process.argv[2]);

/** A key of the job's JWK for one purpose. */
function key(usage) {
  const jwk = { kty: job.jwk.kty, crv: job.jwk.crv, x: job.jwk.x, key_ops: [usage] };
  if (usage === 'sign') {
    jwk.d = job.jwk.d;
  }
  return crypto.subtle.importKey('jwk', jwk, 'Ed25519', false, [usage]);
}

/** The job's message as the package describes one. */
function descriptor({ method, url, headers, status }) {
  const fields = headers.map(([name, value]) => ({ name, value }));
  if (!status) {
    return { kind: 'request', method, targetUri: url, fields };
  }
  return { kind: 'response', status, fields, request: { kind: 'request', method, targetUri: url, fields: [] } };
}

/** The components that the job names. */
function components() {
  return job.components.map(([name, member, req]) => {
    const parameters = {};
    if (member) {
      parameters.key = member;
    }
    if (req) {
      parameters.req = true;
    }
    return Object.keys(parameters).length ? component(name, parameters) : name;
  });
}

async function run() {
  switch (job.with) {
    case 'http-message-sig': {
      const fields = await createSignature(descriptor(job.message), {
        label: job.label,
        components: components(),
        parameters: job.parameters,
        signer: webcrypto.signer(await key('sign')),
      });
      return { signature: fields.signature, input: fields.signatureInput };
    }
    case 'web-bot-auth': {
      const { method, url, headers } = job.message;
      const signed = await signatureHeaders(new Request(url, { method, headers }), await signerFromJWK(job.jwk), {
        created: new Date(job.parameters.created * 1000),
        expires: new Date(job.parameters.expires * 1000),
      });
      return { signature: signed.Signature, input: signed['Signature-Input'] };
    }
    case 'verify':
      try {
        const verified = await verifySignature(descriptor(job.message), {
          label: job.label,
          policy: {
            algorithms: ['ed25519'],
            requiredComponents: components(),
            requiredParameters: job.parameters,
            maxAge: 300,
          },
          resolveVerifier: async () => webcrypto.verifier(await key('verify')),
        });
        return { keyid: verified.parameters.keyid, nonce: verified.parameters.nonce };
      } catch (error) {
        return { refused: error.code ?? String(error) };
      }
    default:
      throw new Error(`nothing is known of ${job.with}`);
  }
}

process.stdout.write(JSON.stringify(await run()) + '\n');
