"""Reconstruction: 10M noisy values on 100 intervals, beside a direct evaluation of every value and interval."""

from __future__ import annotations

import time
from typing import Any

import numpy as np

from measuring import cpu, fresh, peak
from rows import Row, faster, within

N, INTERVALS, SAMPLE = 10_000_000, 100, 100_000
SECONDS, RATIO, ADDED = 2.0, 200.0, 300e6
KERNEL_SECONDS, KERNEL_RATIO = 3.0, 30.0


def run() -> list[Row]:
    """Reconstruct generated values in a process of its own; the direct evaluation runs on a sample of them."""
    ours = fresh("reconstruction", "measure", N)
    direct = fresh("reconstruction", "direct", SAMPLE, ours["em"]["steps"])
    whole = direct["seconds"] * N / SAMPLE
    memory = fresh("reconstruction", "from_file", N)
    rows = [
        within(
            f"10M values on {INTERVALS} intervals, {name}", ours[name]["seconds"], SECONDS, "s",
            note=f"{ours[name]['steps']} steps on {ours['bins']:,} bins, {noise}",
        )
        for name, noise in (("em", "uniform noise"), ("bayes", "uniform noise"), ("gaussian", "EM, Gaussian noise"))
    ]  # fmt: skip
    density = fresh("reconstruction", "kernel", N)
    summed = fresh("reconstruction", "summed_waves", SAMPLE, density["bandwidth"])
    return [
        *rows,
        within(
            "10M values, a kernel density cross-validated, binning counted", density["seconds"], KERNEL_SECONDS, "s",
            note="uniform noise, which needs the finest waves",
        ),
        faster(
            "a kernel density whose waves are summed over every value",
            density["seconds"],
            summed["seconds"] * N / SAMPLE,
            KERNEL_RATIO,
            note=f"{summed['waves']:,} waves on {SAMPLE:,} values, scaled by {N // SAMPLE:,}: it is linear",
        ),
        faster(
            "the same steps evaluated for every value and interval",
            ours["em"]["seconds"],
            whole,
            RATIO,
            note=f"measured on {SAMPLE:,} values ({direct['seconds']:.1f} s), scaled by {N // SAMPLE}: it is linear",
        ),
        within("binning 10M values, once", ours["binning"], SECONDS, "s"),
        Row("the same with a band, 60 resamples", ours["band"], "s"),
        within("memory added by reading 10M values from Parquet and reconstructing", memory["added"], ADDED, "B",
               note=f"the column itself is {8 * N / 1e6:.0f} MB; counts, not values, are kept"),
    ]  # fmt: skip


def measure(n: int) -> dict[str, Any]:
    """Bin and reconstruct n values, the libraries being warm; gives CPU seconds."""
    from discreet.collect import AdditiveNoise, Gaussian, Uniform

    answer: dict[str, Any] = {}
    channels = {
        "em": AdditiveNoise(Uniform.for_privacy(1.0, low=0, high=1), low=0, high=1),
        "gaussian": AdditiveNoise(Gaussian.for_privacy(0.5, low=0, high=1), low=0, high=1),
    }
    for name, channel in channels.items():
        noisy = channel.perturb(values(n), random_state=1)
        how = channel.reconstruction(INTERVALS)
        counted = how.histogram(noisy)
        found = how.reconstruct(counted)
        answer[name] = {"seconds": cpu(lambda: how.reconstruct(counted), times=3), "steps": found.iterations}  # noqa: B023
        if name == "em":
            answer["binning"] = cpu(lambda: how.histogram(noisy), times=3)  # noqa: B023
            answer["bins"] = int(counted.counts.size)
            answer["band"] = cpu(lambda: how.reconstruct(counted, band=0.95, random_state=1), times=1, warm=0)  # noqa: B023
            plain = channel.reconstruction(INTERVALS, method="bayes")
            steps = plain.reconstruct(counted).iterations
            answer["bayes"] = {"seconds": cpu(lambda: plain.reconstruct(counted), times=3), "steps": steps}  # noqa: B023
    return answer


def kernel(n: int) -> dict[str, Any]:
    """Bin n values and make a kernel density of them; gives CPU seconds, and Silverman's bandwidth."""
    from discreet.collect import AdditiveNoise, Uniform

    channel = AdditiveNoise(Uniform.for_privacy(1.0, low=0, high=1), low=0, high=1)
    noisy = channel.perturb(values(n), random_state=1)
    how = channel.reconstruction(INTERVALS, method="kernel", bandwidth="cv")
    seconds = cpu(lambda: how.reconstruct(noisy), times=3)
    return {"seconds": seconds, "bandwidth": float(0.9 * noisy.std() * n**-0.2)}


def summed_waves(n: int, bandwidth: float) -> dict[str, Any]:
    """Sum each wave of the noisy values' characteristic function over every value, then transform back."""
    from discreet.collect import AdditiveNoise, Uniform

    channel = AdditiveNoise(Uniform.for_privacy(1.0, low=0, high=1), low=0, high=1)
    noisy = channel.perturb(values(n), random_state=1)
    waves = np.arange(0, 1 / bandwidth, 2 * np.pi / 8)  # a period of eight ranges
    began = time.process_time()
    seen = np.array([np.exp(1j * t * noisy).mean() for t in waves])
    left = channel.noise.characteristic(waves)
    seen *= (1 - (bandwidth * waves) ** 2) ** 3 * left / np.maximum(left**2, 1 / n)
    at = np.linspace(0, 1, 10 * INTERVALS + 1)
    np.maximum(np.real(np.exp(-1j * np.outer(at, waves)) @ seen), 0)
    return {"seconds": time.process_time() - began, "waves": waves.size}


def direct(n: int, steps: int) -> dict[str, Any]:
    """Evaluate the noise between every value and every interval in each step, as the first paper writes it."""
    from discreet.collect import AdditiveNoise, Uniform

    channel = AdditiveNoise(Uniform.for_privacy(1.0, low=0, high=1), low=0, high=1)
    noisy = channel.perturb(values(n), random_state=1)
    middles = (np.arange(INTERVALS) + 0.5) / INTERVALS
    shares = np.full(INTERVALS, 1 / INTERVALS)
    began = time.process_time()
    for _ in range(steps):
        fresh_shares = np.zeros(INTERVALS)
        for start in range(0, n, 10_000):
            weights = channel.noise.pdf(noisy[start : start + 10_000, None] - middles) * shares
            totals = weights.sum(axis=1, keepdims=True)
            fresh_shares += (weights / np.where(totals > 0, totals, 1)).sum(axis=0)
        shares = fresh_shares / fresh_shares.sum()
    return {"seconds": time.process_time() - began}


def from_file(n: int) -> dict[str, Any]:
    """Read noisy values batch by batch from a Parquet file and reconstruct; gives the memory that adds."""
    import tempfile
    from pathlib import Path

    import pyarrow as pa
    import pyarrow.parquet as pq
    from click.testing import CliRunner

    from discreet.cli._app import app
    from discreet.collect import AdditiveNoise, Uniform

    noise = Uniform.for_privacy(1.0, low=0, high=1)
    asked = [
        "--column",
        "x",
        "--noise",
        "uniform",
        "--privacy",
        "1",
        "--range",
        "0,1",
        "--intervals",
        "100",
        "--json",
    ]
    with tempfile.TemporaryDirectory() as folder:
        path, few = Path(folder) / "noisy.parquet", Path(folder) / "few.parquet"
        noisy = AdditiveNoise(noise, low=0, high=1).perturb(values(n), random_state=1)
        pq.write_table(pa.table({"x": noisy}), path)
        pq.write_table(pa.table({"x": noisy[:10_000]}), few)
        del noisy
        CliRunner().invoke(app, ["reconstruct", str(few), *asked], catch_exceptions=False)
        found = peak(
            lambda: CliRunner().invoke(app, ["reconstruct", str(path), *asked], catch_exceptions=False)
        )
    return {"added": found.added}


def values(n: int) -> Any:
    """Draw values of two triangles."""
    rng = np.random.default_rng(3)
    left = rng.triangular(0.05, 0.25, 0.45, n)
    right = rng.triangular(0.55, 0.75, 0.95, n)
    return np.where(rng.random(n) < 0.5, left, right)
