"""Privacy at publication: publishers turn a table into a release that keeps a promise."""

from discreet.publish.generalization import Generalization
from discreet.publish.incognito import Incognito
from discreet.publish.local_recoding import LocalRecoding
from discreet.publish.mondrian import Mondrian
from discreet.publish.optimal_lattice import OptimalLattice
from discreet.publish.samarati import Samarati

__all__ = ["Generalization", "Incognito", "LocalRecoding", "Mondrian", "OptimalLattice", "Samarati"]
