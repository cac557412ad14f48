"""Privacy at publication: publishers turn a table into a release that keeps a promise."""

from typing import TYPE_CHECKING

from discreet.core.lazily import lazily
from discreet.publish.anatomy import Anatomy
from discreet.publish.apriori_anonymization import AprioriAnonymization
from discreet.publish.cahd import Cahd
from discreet.publish.generalization import Generalization
from discreet.publish.incognito import Incognito
from discreet.publish.k_variance_sketch import KVarianceSketch
from discreet.publish.local_recoding import LocalRecoding
from discreet.publish.mondrian import Mondrian
from discreet.publish.optimal_lattice import OptimalLattice
from discreet.publish.perm_mondrian import PermMondrian
from discreet.publish.samarati import Samarati

if TYPE_CHECKING:
    from discreet.publish.condensation import Condensation
    from discreet.publish.stream_condensation import StreamCondensation

_HOMES = {"Condensation": "condensation", "StreamCondensation": "stream_condensation"}
"""What needs scikit-learn, which takes long to load, and is loaded when it is first used."""

__all__ = [
    "Anatomy",
    "AprioriAnonymization",
    "Cahd",
    "Condensation",
    "Generalization",
    "Incognito",
    "KVarianceSketch",
    "LocalRecoding",
    "Mondrian",
    "OptimalLattice",
    "PermMondrian",
    "Samarati",
    "StreamCondensation",
]

__getattr__ = lazily(__name__, _HOMES)
