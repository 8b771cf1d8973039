#!/usr/bin/env python3
"""A table of word vectors distilled from multilingual-e5-small: what a model inside the program could be.

    static-embeddings.py distil --container e5-small-q4.bin --out table.npz [--dimensions 128]
    static-embeddings.py serve --table table.npz --container e5-small-q4.bin [--port 8765]

`distil` sends every token of the Latin and Chinese scripts (and digits and marks) through the model alone, keeps
the principal components of what comes out, weighs each token by its rarity and stores it in four bits a dimension:
the idea of model2vec. A text's vector is the sum of its tokens' vectors. The same container gives the same table.

`serve` answers the /embeddings requests of `[embedding] provider = "openai"`, so that `malha eval retrieval
--embedder configured` measures the table as it would measure any model. docs/evaluation.md has what came out of it.

Needs numpy, onnx, onnxruntime; the container comes from scripts/models-from-packages.sh.
"""
import argparse, http.server, json, os, sys, unicodedata

import numpy as np

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "../crates/providers/benches"))
from encoder_reference import Reference, tokenizer, vocabulary  # noqa: E402

# Constant of smooth inverse frequency (Arora, Liang and Ma, 2017), for the probabilities of the vocabulary.
RARITY = 1e-3
BATCH = 512
# Numbers that share a scale.
BLOCK = 32


def is_wanted(piece):
    """Tokens of scripts that the test sets have, and what belongs to no script."""
    for character in piece.replace("\u2581", ""):
        if character.isalpha():
            name = unicodedata.name(character, "")
            if not name.startswith(("LATIN", "CJK", "FULLWIDTH LATIN")):
                return False
    return True


def distil(args):
    pieces, scores, begin, end = vocabulary(args.container)
    wanted = np.array([n for n, piece in enumerate(pieces) if n > 3 and piece and is_wanted(piece)])
    reference = Reference(args.container, args.threads)
    hidden = reference.shape["hidden"]
    vectors = np.zeros((len(wanted), hidden), np.float32)
    mask = np.zeros((BATCH, 1, 1, 3), np.float32)
    for start in range(0, len(wanted), BATCH):
        part = wanted[start:start + BATCH]
        ids = np.stack([np.full(len(part), begin), part, np.full(len(part), end)], 1)
        x = (reference.words[ids] + reference.places[:3]).astype(np.float32)
        vectors[start:start + len(part)] = reference.session.run(["y"], {"x": x, "mask": mask[:len(part)]})[0].mean(1)
        if start % (BATCH * 40) == 0:
            print(f"{start} of {len(wanted)} tokens", file=sys.stderr)
    vectors -= vectors.mean(0)
    _, directions = np.linalg.eigh(vectors.T.astype(np.float64) @ vectors)
    components = directions[:, ::-1][:, :args.dimensions]
    components *= np.where(components[np.abs(components).argmax(0), range(args.dimensions)] < 0, -1, 1)
    vectors = vectors @ components.astype(np.float32)
    vectors /= np.linalg.norm(vectors, axis=1, keepdims=True)
    weights = RARITY / (RARITY + np.exp(scores[wanted]))
    vectors *= weights[:, None]
    blocks = vectors.reshape(len(wanted), -1, BLOCK)
    scales = (np.abs(blocks).max(2, keepdims=True) / 7).astype(np.float16)
    codes = np.clip(np.round(blocks / np.maximum(scales.astype(np.float32), 1e-9)), -7, 7).astype(np.int8) + 8
    codes = codes.reshape(len(wanted), -1).astype(np.uint8)
    np.savez(args.out, ids=wanted.astype(np.uint32), scales=scales[:, :, 0], codes=codes[:, ::2] | codes[:, 1::2] << 4)
    text = sum(len(pieces[n].encode()) + 1 for n in wanted)
    size = codes.size // 2 + scales.nbytes + text
    print(f"{len(wanted)} tokens, {args.dimensions} dimensions, {size / 1e6:.1f} MB with the tokens themselves")


class Table:
    def __init__(self, path, container):
        stored = np.load(path)
        codes, scales = stored["codes"], stored["scales"].astype(np.float32)
        numbers = np.stack([codes & 15, codes >> 4], 2).reshape(len(codes), -1).astype(np.float32) - 8
        self.vectors = (numbers.reshape(len(codes), -1, BLOCK) * scales[:, :, None]).reshape(len(codes), -1)
        self.rows = {int(n): row for row, n in enumerate(stored["ids"])}
        self.tokens = tokenizer(container, longest_text=1 << 20)

    def embed(self, text):
        rows = [self.rows[n] for n in self.tokens(text) if n in self.rows]
        # A text without a known token gets a direction of its own, since a vector of zeros has none.
        vector = self.vectors[rows].sum(0) if rows else np.eye(1, self.vectors.shape[1])[0]
        return vector / max(np.linalg.norm(vector), 1e-9)


def serve(args):
    table = Table(args.table, args.container)

    class Handler(http.server.BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def do_POST(self):
            request = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
            texts = request["input"] if isinstance(request["input"], list) else [request["input"]]
            data = [{"index": n, "embedding": [round(float(x), 6) for x in table.embed(text)]}
                    for n, text in enumerate(texts)]
            body = json.dumps({"data": data, "model": "static"}).encode()
            self.send_response(200)
            self.send_header("Content-Type", "application/json")
            self.send_header("Content-Length", str(len(body)))
            self.end_headers()
            self.wfile.write(body)

        def log_message(self, *_):
            pass

    print(f"[embedding]\nprovider = \"openai\"\nmodel = \"static\"\ndimensions = {table.vectors.shape[1]}\n"
          f"base_url = \"http://127.0.0.1:{args.port}\"", flush=True)
    http.server.ThreadingHTTPServer(("127.0.0.1", args.port), Handler).serve_forever()


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    commands = parser.add_subparsers(required=True)
    one = commands.add_parser("distil")
    one.add_argument("--container", required=True)
    one.add_argument("--out", required=True)
    one.add_argument("--dimensions", type=int, default=128)
    one.add_argument("--threads", type=int, default=2)
    one.set_defaults(run=distil)
    two = commands.add_parser("serve")
    two.add_argument("--table", required=True)
    two.add_argument("--container", required=True)
    two.add_argument("--port", type=int, default=8765)
    two.set_defaults(run=serve)
    args = parser.parse_args()
    args.run(args)


if __name__ == "__main__":
    main()
