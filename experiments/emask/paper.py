"""What the EMASK paper reports, to compare with ours: Agrawal, Krishnan & Haritsa, DASFAA 2004, tables 1 to 6."""

from __future__ import annotations

from typing import NamedTuple

MIN_SUPPORT = 0.003


class Row(NamedTuple):
    """A row of table 3 or 6: percent, but for the slowdown; then the variances over the lengths."""

    p: float
    q: float
    basic_privacy: float
    reinterrogated_privacy: float
    slowdown: float
    false_positives: float
    false_negatives: float
    support_error: float
    variance_false_positives: float
    variance_false_negatives: float
    variance_support_error: float


class Level(NamedTuple):
    """A row of table 4 or 5: the frequent itemsets of one length, and their errors in percent."""

    n_true: int
    false_positives: float
    false_negatives: float
    support_error: float


TABLE_1 = ((0.3, 0.99), (0.4, 0.98), (0.5, 0.97), (0.6, 0.96))
TABLE_2 = (
    (0.3, 0.99), (0.4, 0.99), (0.4, 0.98), (0.5, 0.98), (0.5, 0.97),
    (0.6, 0.98), (0.6, 0.97), (0.6, 0.96), (0.7, 0.97), (0.7, 0.96),
)  # fmt: skip
TABLE_3 = (
    Row(0.6, 0.96, 92, 70, 5.2, 4.99, 5.34, 3.39, 3.23, 6.84, 0.27),
    Row(0.5, 0.97, 92.6, 74, 3.8, 5.64, 6.27, 4.86, 7.74, 6.41, 4.31),
    Row(0.4, 0.98, 93, 78, 2.4, 6.40, 7.87, 6.60, 6.13, 18.35, 19.02),
    Row(0.3, 0.99, 92.6, 80, 1.1, 6.63, 11.69, 10.19, 7.61, 137.20, 120.24),
)
TABLE_4 = {
    1: Level(664, 1.5, 1.5, 3.21),
    2: Level(1847, 5.79, 5.46, 3.38),
    3: Level(1310, 3.66, 4.27, 2.9),
    4: Level(864, 7.29, 6.13, 3.45),
    5: Level(419, 6.2, 12.88, 4.35),
    6: Level(115, 6.08, 4.34, 5.44),
    7: Level(21, 4.76, 4.76, 6.86),
    8: Level(2, 0, 0, 5.39),
}
"""At p = 0.6, q = 0.96."""
TABLE_5 = {
    1: Level(664, 0.75, 1.95, 3.11),
    2: Level(1847, 7.95, 6.93, 5.09),
    3: Level(1310, 7.63, 7.63, 8.16),
    4: Level(864, 8.91, 16.31, 14.29),
    5: Level(419, 4.53, 35.56, 26.18),
    6: Level(115, 0, 53.91, 46.81),
    7: Level(21, 0, 85.71, 123.04),
    8: Level(2, 0, 100, 0),
}
"""At p = 0.3, q = 0.99."""
TABLE_6 = (
    Row(0.8, 0.96, 92.7, 71, 4.8, 3.21, 3.67, 3.21, 2.34, 1.67, 0.67),
    Row(0.7, 0.96, 94.3, 76, 4.8, 4.13, 3.90, 3.86, 6.45, 1.46, 0.65),
    Row(0.6, 0.96, 95.8, 81.4, 4.8, 5.05, 5.28, 4.80, 11.96, 4.47, 0.42),
    Row(0.6, 0.97, 94.5, 78, 3.7, 4.36, 4.36, 4.08, 10.13, 1.47, 0.24),
    Row(0.7, 0.97, 92.7, 73, 3.6, 2.98, 3.67, 3.34, 3.05, 1.67, 0.36),
    Row(0.6, 0.98, 92.1, 74, 2.5, 3.67, 3.67, 3.30, 3.03, 3.21, 0.16),
    Row(0.5, 0.98, 94.3, 79.5, 2.4, 4.36, 4.82, 4.35, 3.50, 11.53, 0.20),
    Row(0.4, 0.98, 96.2, 85.7, 2.7, 6.43, 6.66, 5.97, 26.63, 14.24, 0.56),
    Row(0.4, 0.99, 93.2, 79.3, 1.6, 5.28, 5.05, 4.78, 15.40, 16.50, 1.34),
    Row(0.3, 0.99, 96, 87, 1.3, 8.96, 7.81, 6.29, 201.96, 33.20, 1.51),
)
