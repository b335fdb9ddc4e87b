"""The programs of this folder beside PyTorch: runs take turns, medians are printed. Started by tools/bench-torch.sh.

    side_by_side.py BENCH [THREADS] [NAME...]

BENCH is the built bench `programs`. Both sides compute the same ops one by one on float32, without gradients.
"""
import os
import statistics
import subprocess
import sys
import time

import torch
from torch.nn import functional

RUNS = 21
# Seconds before every turn of either side: the other one's threads wait in a loop for some milliseconds for more work before they sleep,
# and would have the cores that this one needs.
IDLE = 0.05


def made(*shape):
    return torch.rand(shape) * 2 - 1


def matmul():
    a, b = made(1024, 1024), made(1024, 1024)
    return lambda: a @ b


def rms_norm():
    x, weight = made(4096, 4096), made(4096)
    return lambda: functional.rms_norm(x, (4096,), weight, 1e-6)


def softmax():
    x = made(4096, 4096)
    return lambda: torch.softmax(x, dim=-1)


def attention():
    q, k, v = made(32, 1, 128), made(32, 4096, 128), made(32, 4096, 128)
    return lambda: torch.softmax((q @ k.transpose(1, 2)) * 128 ** -0.5, dim=-1) @ v


def two_layers(length, vocab, width, heads, kv_heads, head, inner):
    """Two decoder layers, op by op as in programs/decoder.py."""
    ids = torch.arange(length) % 8
    cos, sin, embed, norm_final = made(length, head), made(length, head), made(vocab, width), made(width)
    layers = [
        dict(
            norm_in=made(width), norm_q=made(head), norm_k=made(head), norm_post=made(width),
            q=made(heads * head, width), k=made(kv_heads * head, width), v=made(kv_heads * head, width),
            o=made(width, heads * head), gate=made(inner, width), up=made(inner, width), down=made(width, inner),
        )
        for _ in range(2)
    ]

    def rope(x):
        low, high = x.chunk(2, dim=-1)
        turned = torch.cat((-high, low), dim=-1)
        return x * cos[:, None] + turned * sin[:, None]

    def norm(x, weight):
        return functional.rms_norm(x, weight.shape, weight, 1e-6)

    def layer(h, w):
        x = norm(h, w["norm_in"])
        q = rope(norm((x @ w["q"].T).reshape(1, length, heads, head), w["norm_q"]))
        k = rope(norm((x @ w["k"].T).reshape(1, length, kv_heads, head), w["norm_k"]))
        v = (x @ w["v"].T).reshape(1, length, kv_heads, head)
        queries = q.permute(0, 2, 1, 3) * head ** -0.5
        keys = k.repeat_interleave(heads // kv_heads, dim=2).permute(0, 2, 3, 1)
        values = v.repeat_interleave(heads // kv_heads, dim=2).permute(0, 2, 1, 3)
        place = torch.arange(length)
        seen = place[None, :] <= place[:, None]
        scores = torch.where(seen, queries @ keys, torch.tensor(-1e30))
        mixed = torch.softmax(scores, dim=-1) @ values
        h = h + mixed.permute(0, 2, 1, 3).reshape(1, length, heads * head) @ w["o"].T
        x = norm(h, w["norm_post"])
        return h + (functional.silu(x @ w["gate"].T) * (x @ w["up"].T)) @ w["down"].T

    def run():
        h = embed.index_select(0, ids).reshape(1, length, width)
        for w in layers:
            h = layer(h, w)
        hidden = norm(h, norm_final)
        logits = hidden.reshape(length, width) @ embed.T
        return hidden, logits, logits.argmax(dim=-1)

    return run


PROGRAMS = {
    "matmul": matmul,
    "rms_norm": rms_norm,
    "softmax": softmax,
    "attention": attention,
    "decoder": lambda: two_layers(128, 8192, 1024, 16, 8, 64, 3072),
    "tiny_decoder": lambda: two_layers(32, 96, 64, 4, 2, 16, 128),
}


def milliseconds(run):
    """Without the time that freeing the result takes."""
    time.sleep(IDLE)
    start = time.perf_counter()
    result = run()
    took = time.perf_counter() - start
    del result
    return took * 1e3


def copy_bound():
    """Milliseconds to copy 64 MiB into memory that is there already: the traffic of an op of 4096 x 4096 floats."""
    source = made(4096, 4096)
    target = torch.empty_like(source)
    return statistics.median(milliseconds(lambda: target.copy_(source)) for _ in range(RUNS))


def main():
    bench, threads, names = sys.argv[1], int(sys.argv[2]) if len(sys.argv) > 2 else os.cpu_count(), sys.argv[3:]
    torch.set_num_threads(threads)
    environment = dict(os.environ, RAYON_NUM_THREADS=str(threads))
    ours = subprocess.Popen(
        [bench, "--serve"], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, bufsize=1, env=environment
    )

    def ask(line):
        ours.stdin.write(line + "\n")
        ours.stdin.flush()

    print(f"PyTorch {torch.__version__}, {threads} threads, {RUNS} runs in turns, milliseconds: median (least)")
    print(f"{'copy of 64 MiB':14} {copy_bound():8.3f}")
    print(f"{'program':14} {'ours':>19} {'PyTorch':>19} {'ratio':>6}")
    with torch.inference_mode():
        for name in names or PROGRAMS:
            run = PROGRAMS[name]()
            milliseconds(run)
            ask(name)
            ours.stdout.readline()
            mine, theirs = [], []
            for _ in range(RUNS):
                time.sleep(IDLE)
                ask("again")
                mine.append(float(ours.stdout.readline()))
                theirs.append(milliseconds(run))
            ask("")
            (a, b), (c, d) = ((statistics.median(times), min(times)) for times in (mine, theirs))
            print(f"{name:14} {a:9.3f} ({b:7.3f}) {c:9.3f} ({d:7.3f}) {a / c:6.2f}", flush=True)
    ours.stdin.close()
    ours.wait()


if __name__ == "__main__":
    main()
