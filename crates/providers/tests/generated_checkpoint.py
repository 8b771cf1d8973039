#!/usr/bin/env python3
"""Expected outputs for `local_models_give_the_reference_vectors.rs`, computed with numpy alone.

Weights are a formula of their running number, so that the test can write the same checkpoint. Prints Rust arrays.
"""
import math

import numpy as np

counter = 0


def weights(*shape):
    global counter
    count = int(np.prod(shape))
    n = np.arange(counter, counter + count, dtype=np.uint64)
    counter += count
    mixed = ((n * np.uint64(2654435761)) & np.uint64(0xFFFFFFFF)) >> np.uint64(8)
    return (mixed.astype(np.float32) / np.float32(1 << 24) - np.float32(0.5)).reshape(shape) * np.float32(0.2)


def norm(x, scale, shift):
    return (x - x.mean(-1, keepdims=True)) / np.sqrt(x.var(-1, keepdims=True) + 1e-12) * (1 + scale) + shift


def encoder(hidden, layers, heads, wide, vocabulary, positions, types):
    """Draws the weights in the order in which the test writes them."""
    parts = {"word": weights(vocabulary, hidden), "place": weights(positions, hidden),
             "type": weights(types, hidden), "norm": (weights(hidden), weights(hidden)), "layers": []}
    for _ in range(layers):
        layer = {}
        for name, inputs, outputs in [("q", hidden, hidden), ("k", hidden, hidden), ("v", hidden, hidden),
                                      ("o", hidden, hidden)]:
            layer[name] = (weights(outputs, inputs), weights(outputs))
        layer["n1"] = (weights(hidden), weights(hidden))
        layer["up"] = (weights(wide, hidden), weights(wide))
        layer["down"] = (weights(hidden, wide), weights(hidden))
        layer["n2"] = (weights(hidden), weights(hidden))
        parts["layers"].append(layer)

    def run(ids, kinds, offset):
        place = np.arange(len(ids)) + offset
        x = norm((parts["word"][ids] + parts["place"][place] + parts["type"][kinds]).astype(np.float64),
                 *parts["norm"])
        size = hidden // heads
        for layer in parts["layers"]:
            q, k, v = (x @ layer[p][0].T.astype(np.float64) + layer[p][1] for p in "qkv")
            context = np.zeros_like(x)
            for head in range(heads):
                at = slice(head * size, (head + 1) * size)
                scores = q[:, at] @ k[:, at].T / math.sqrt(size)
                scores = np.exp(scores - scores.max(-1, keepdims=True))
                context[:, at] = scores / scores.sum(-1, keepdims=True) @ v[:, at]
            x = norm(x + context @ layer["o"][0].T + layer["o"][1], *layer["n1"])
            up = x @ layer["up"][0].T + layer["up"][1]
            up = np.array([0.5 * u * (1 + math.erf(u / math.sqrt(2))) for u in up.ravel()]).reshape(up.shape)
            x = norm(x + up @ layer["down"][0].T + layer["down"][1], *layer["n2"])
        return x

    return run


def show(name, values):
    print(f"const {name}: [f32; {len(values)}] = [{', '.join(f'{v:.6f}' for v in values)}];")


# [CLS] a b ##c [SEP] through a BERT of 768 dimensions
run = encoder(768, 2, 12, 96, 9, 16, 2)
mean = run([2, 4, 5, 6, 3], [0] * 5, 0).mean(0)
show("VECTOR_768", (mean / np.linalg.norm(mean))[:12])

# <s> question </s></s> passage </s> through an XLM-R classifier
counter = 0
run = encoder(64, 2, 4, 128, 10, 40, 1)
dense = weights(64, 64), weights(64)
out = weights(1, 64), weights(1)
logits = []
for ids in ([0, 4, 5, 2, 2, 6, 7, 2], [0, 4, 5, 2, 2, 8, 2]):
    first = run(ids, [0] * len(ids), 2)[0]
    logits.append(float((np.tanh(first @ dense[0].T + dense[1]) @ out[0].T + out[1])[0]))
show("LOGITS_XLM_R", logits)

# [CLS] question [SEP] passage [SEP] through a BERT classifier
counter = 0
run = encoder(64, 2, 4, 128, 9, 40, 2)
dense = weights(64, 64), weights(64)
out = weights(1, 64), weights(1)
ids, kinds = [2, 4, 3, 5, 6, 3], [0, 0, 0, 1, 1, 1]
first = run(ids, kinds, 0)[0]
show("LOGIT_BERT", [float((np.tanh(first @ dense[0].T + dense[1]) @ out[0].T + out[1])[0])])
