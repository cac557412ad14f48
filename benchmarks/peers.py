"""The peers, run by the interpreter that has them installed; this file imports nothing of ours.

pycanon pins old versions of NumPy, pandas and SciPy, so the peers may live in an environment of their own.
"""

from __future__ import annotations

import time
from typing import Any


def anonypy_adult(source: str, target: str, separator: str, k: int) -> dict[str, Any]:
    """Time anonypy from file to file by its documented call, and its partitioning inside it."""
    import pandas as pd
    from anonypy import Preserver, mondrian

    spent: dict[str, Any] = {}
    partition = mondrian.Mondrian.partition

    def timed(*arguments: Any, **options: Any) -> Any:
        began = time.process_time()
        found = partition(*arguments, **options)
        spent["partition"] = time.process_time() - began
        spent["groups"] = len(found)
        return found

    mondrian.Mondrian.partition = timed
    began = time.process_time()
    frame = pd.read_csv(source, sep=separator)
    for name in frame.columns:
        if not pd.api.types.is_numeric_dtype(frame[name]):
            frame[name] = frame[name].astype("category")
    rows = Preserver(frame, list(frame.columns), frame.columns[-1]).anonymize_k_anonymity(k)
    pd.DataFrame(rows).to_csv(target, index=False)
    return {"file": time.process_time() - began, **spent}


def pycanon_t_closeness(source: str, separator: str, sensitive: str) -> dict[str, float]:
    """Time pycanon's t-closeness of one sensitive column, all others being quasi-identifiers."""
    import pandas as pd
    from pycanon import anonymity

    frame = pd.read_csv(source, sep=separator)
    quasi = [name for name in frame.columns if name != sensitive]
    began = time.process_time()
    t = anonymity.t_closeness(frame, quasi, [sensitive])
    return {"seconds": time.process_time() - began, "t": float(t)}


def acro_crosstab(n: int) -> dict[str, float]:
    """Time ACRO's check of one table of mean salaries by age and department."""
    import contextlib
    import io
    import logging

    import numpy as np
    import pandas as pd
    from acro import ACRO

    logging.disable(logging.CRITICAL)
    rng = np.random.default_rng(1)
    frame = pd.DataFrame(
        {
            "age": rng.integers(18, 68, n),
            "dept": rng.integers(0, 20, n),
            "salary": rng.integers(10_000, 200_000, n),
        }
    )
    with contextlib.redirect_stdout(io.StringIO()):
        acro = ACRO(suppress=False)
        spent = []
        for _ in range(3):
            began = time.process_time()
            acro.crosstab(frame["age"], frame["dept"], values=frame["salary"], aggfunc="mean")
            spent.append(time.process_time() - began)
    return {"seconds": min(spent)}


def pyfim_eclat(path: str, share: float) -> dict[str, Any]:
    """Time pyfim's eclat on baskets that are lists already; the itemsets are summed up in a short text."""
    import hashlib
    import json

    import fim

    baskets = _baskets(path)
    spent = []
    for _ in range(3):
        wall, cpu = time.perf_counter(), time.process_time()
        found = fim.eclat(baskets, target="s", supp=100 * share, zmin=1, report="a")
        spent.append((time.perf_counter() - wall, time.process_time() - cpu))
    plain = sorted((sorted(items), count) for items, count in found)
    return {
        "wall": min(wall for wall, _ in spent),
        "cpu": min(cpu for _, cpu in spent),
        "sets": len(found),
        "digest": hashlib.sha256(json.dumps(plain).encode()).hexdigest(),
    }


def pyfim_memory(path: str, share: float) -> dict[str, int]:
    """Measure the memory of reading the baskets and mining them by pyfim's eclat."""
    import fim

    from measuring import peak

    spent = peak(lambda: fim.eclat(_baskets(path), target="s", supp=100 * share, zmin=1, report="a"))
    return {"added": spent.added, "highest": spent.highest}


def mlxtend_fpgrowth(path: str, share: float) -> dict[str, Any]:
    """Time mlxtend's fpgrowth on a frame of truth values that is there already."""
    import numpy as np
    import pandas as pd
    from mlxtend.frequent_patterns import fpgrowth

    baskets = _baskets(path)
    held = np.zeros((len(baskets), max(map(max, baskets)) + 1), np.bool_)
    for row, basket in zip(held, baskets, strict=True):
        row[basket] = True
    frame = pd.DataFrame(held)
    return _timed(lambda: len(fpgrowth(frame, min_support=share)))


def efficient_apriori(path: str, share: float) -> dict[str, Any]:
    """Time efficient-apriori on baskets that are tuples already."""
    from efficient_apriori import itemsets_from_transactions

    baskets = [tuple(basket) for basket in _baskets(path)]
    return _timed(lambda: sum(map(len, itemsets_from_transactions(baskets, min_support=share)[0].values())))


def pynndescent_neighbors(path: str, k: int, wide: int) -> dict[str, Any]:
    """Time pynndescent's graph of ``wide`` neighbors by cosine; gives the k nearest of a sample, for the recall."""
    import numpy as np
    import scipy.sparse as sparse
    from pynndescent import NNDescent

    matrix = _matrix(path).astype(np.float32)
    NNDescent(
        sparse.random(500, matrix.shape[1], 0.05, "csr", np.float32, rng=0),
        metric="cosine",
        n_neighbors=k + 1,
    )
    wall, cpu = time.perf_counter(), time.process_time()
    found, _ = NNDescent(matrix, metric="cosine", n_neighbors=wide + 1, random_state=0).neighbor_graph
    taken = {"wall": time.perf_counter() - wall, "cpu": time.process_time() - cpu}
    sample = np.linspace(0, len(found) - 1, 500).astype(int)
    near = [[int(one) for one in found[row] if one != row][:k] for row in sample]
    return {**taken, "sample": sample.tolist(), "near": near}


def sklearn_neighbors(path: str, k: int, n_queries: int) -> dict[str, Any]:
    """Time scikit-learn's brute force by cosine for some of the rows, and say what all of them would take."""
    import numpy as np
    from sklearn.neighbors import NearestNeighbors

    matrix = _matrix(path).astype(np.float64)
    model = NearestNeighbors(n_neighbors=k + 1, algorithm="brute", metric="cosine").fit(matrix)
    queries = matrix[np.linspace(0, matrix.shape[0] - 1, n_queries).astype(int)]
    model.kneighbors(queries[:50])
    wall, cpu = time.perf_counter(), time.process_time()
    model.kneighbors(queries)
    share = matrix.shape[0] / n_queries
    return {"wall": (time.perf_counter() - wall) * share, "cpu": (time.process_time() - cpu) * share}


def mpyc_dot(n: int) -> dict[str, float]:
    """Time MPyC's scalar product of two private vectors with three parties on this machine."""
    import json
    import subprocess
    import sys
    from importlib.util import find_spec
    from pathlib import Path

    if find_spec("mpyc") is None:
        raise ModuleNotFoundError("No module named 'mpyc'")
    script = Path(__file__).with_name("peer_mpyc.py")
    words = [sys.executable, str(script), str(n), "-M3", "--no-log"]
    done = subprocess.run(words, capture_output=True, text=True, check=True)
    found: dict[str, float] = json.loads(done.stdout.splitlines()[-1])
    return found


def openmined_psi(n: int) -> dict[str, float]:
    """Time openmined-psi's intersection, both sides in this process."""
    import private_set_intersection.python as psi

    sets = [[f"person-{number}" for number in range(start, start + n)] for start in (0, n // 2)]
    began = time.perf_counter()
    client = psi.client.CreateWithNewKey(True)
    server = psi.server.CreateWithNewKey(True)
    setup = server.CreateSetupMessage(1e-12, n, sets[1], psi.DataStructure.GCS)
    response = server.ProcessRequest(client.CreateRequest(sets[0]))
    found = client.GetIntersection(setup, response)
    return {"wall": time.perf_counter() - began, "found": len(found)}


def _matrix(path: str) -> Any:
    from scipy.sparse import load_npz

    return load_npz(path).tocsr()


def _timed(work: Any) -> dict[str, Any]:
    wall, cpu = time.perf_counter(), time.process_time()
    sets = work()
    return {"wall": time.perf_counter() - wall, "cpu": time.process_time() - cpu, "sets": sets}


def _baskets(path: str) -> list[list[int]]:
    from pathlib import Path

    with Path(path).open() as lines:
        return [[int(word) for word in line.split()] for line in lines]


def pycanon_measures(source: str, separator: str, sensitive: str) -> dict[str, float]:
    """Time pycanon's k-anonymity, l-diversity and basic beta-likeness of one sensitive column."""
    import pandas as pd
    from pycanon import anonymity

    frame = pd.read_csv(source, sep=separator)
    quasi = [name for name in frame.columns if name != sensitive]
    began = time.process_time()
    k = anonymity.k_anonymity(frame, quasi)
    l_ = anonymity.l_diversity(frame, quasi, [sensitive])
    beta = anonymity.basic_beta_likeness(frame, quasi, [sensitive])
    return {"seconds": time.process_time() - began, "k": float(k), "l": float(l_), "beta": float(beta)}


def anonymeter_attacks(
    original: str, control: str, synthetic: str, sensitive: str, n_attacks: int
) -> dict[str, Any]:
    """Time anonymeter's three evaluators by their documented calls, on synthetic rows."""
    import warnings

    import pandas as pd
    from anonymeter.evaluators import InferenceEvaluator, LinkabilityEvaluator, SinglingOutEvaluator

    warnings.simplefilter("ignore")
    ori, others, syn = (pd.read_csv(path) for path in (original, control, synthetic))
    known = [name for name in ori.columns if name != sensitive]
    halves = (known[: len(known) // 2], known[len(known) // 2 :])
    tables = {"ori": ori, "syn": syn, "control": others, "n_attacks": n_attacks}
    began = time.process_time()
    evaluators = {
        "singling out": SinglingOutEvaluator(**tables, n_cols=3),
        "linkability": LinkabilityEvaluator(**tables, aux_cols=halves),
        "inference": InferenceEvaluator(**tables, aux_cols=known, secret=sensitive),
    }
    risks = {}
    for name, evaluator in evaluators.items():
        options = {"mode": "multivariate"} if name == "singling out" else {"n_jobs": 1}
        evaluator.evaluate(**options)
        risks[name] = float(evaluator.risk().value)
    return {"seconds": time.process_time() - began, "risks": risks}


def pandas_sql_write(url: str, n_rows: int) -> dict[str, float]:
    """Time pandas' to_sql of the table that `postgres` writes, by psycopg."""
    import sqlalchemy

    frame = _people(n_rows)
    engine = sqlalchemy.create_engine(url)
    began = time.process_time()
    frame.to_sql("theirs", engine, index=False)
    return {"seconds": time.process_time() - began}


def pandas_sql_read(url: str, n_rows: int) -> dict[str, float]:
    """Time pandas' read_sql of the table that we wrote, by psycopg."""
    import pandas as pd
    import sqlalchemy

    engine = sqlalchemy.create_engine(url)
    began = time.process_time()
    rows = len(pd.read_sql("SELECT * FROM ours", engine))
    assert rows == n_rows
    return {"seconds": time.process_time() - began}


def _people(n_rows: int) -> Any:
    import datetime as dt

    import numpy as np
    import pandas as pd

    rng = np.random.default_rng(0)
    first = dt.date(1970, 1, 1)
    days = [first + dt.timedelta(days=int(day)) for day in rng.integers(0, 20_000, n_rows)]
    texts = {
        name: np.array([f"{name} {number:02d}" for number in range(size)], object)[
            rng.integers(0, size, n_rows)
        ]
        for name, size in (("zip", 900), ("job", 30), ("sex", 2), ("disease", 40))
    }
    numbers = {
        "patient": np.arange(n_rows),
        "age": rng.integers(0, 100, n_rows),
        "weight": rng.normal(70, 9, n_rows),
    }
    return pd.DataFrame({**numbers, "day": days, **texts})
