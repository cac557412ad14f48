"""Privacy at publication: publishers turn a table into a release that keeps a promise."""

from typing import TYPE_CHECKING

from discreet.core.lazy import lazily
from discreet.publish.baskets.apriori_anonymization import AprioriAnonymization
from discreet.publish.baskets.cahd import Cahd
from discreet.publish.baskets.perm_mondrian import PermMondrian
from discreet.publish.sketches.k_variance_sketch import KVarianceSketch
from discreet.publish.tables.anatomy import Anatomy
from discreet.publish.tables.generalization import Generalization
from discreet.publish.tables.incognito import Incognito
from discreet.publish.tables.local_recoding import LocalRecoding
from discreet.publish.tables.mondrian import Mondrian
from discreet.publish.tables.optimal_lattice import OptimalLattice
from discreet.publish.tables.samarati import Samarati

if TYPE_CHECKING:
    from discreet.publish.pseudo.condensation import Condensation
    from discreet.publish.pseudo.stream_condensation import StreamCondensation
    from discreet.publish.sketches.client import sketch_by_delta, sketch_record
    from discreet.publish.sketches.delta_sketch import DeltaSketch
    from discreet.publish.sketches.family import SketchFamily

_HOMES = {
    "Condensation": "pseudo.condensation",
    "DeltaSketch": "sketches.delta_sketch",
    "SketchFamily": "sketches.family",
    "StreamCondensation": "pseudo.stream_condensation",
    "sketch_by_delta": "sketches.client",
    "sketch_record": "sketches.client",
}
"""What needs scikit-learn, which takes long to load, and is loaded when it is first used."""

__all__ = [
    "Anatomy",
    "AprioriAnonymization",
    "Cahd",
    "Condensation",
    "DeltaSketch",
    "Generalization",
    "Incognito",
    "KVarianceSketch",
    "LocalRecoding",
    "Mondrian",
    "OptimalLattice",
    "PermMondrian",
    "Samarati",
    "SketchFamily",
    "StreamCondensation",
    "sketch_by_delta",
    "sketch_record",
]

__getattr__ = lazily(__name__, _HOMES)
