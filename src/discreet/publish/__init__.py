"""Privacy at publication: publishers turn a table into a release that keeps a promise."""

from discreet.publish.generalization import Generalization
from discreet.publish.mondrian import Mondrian
from discreet.publish.optimal_lattice import OptimalLattice

__all__ = ["Generalization", "Mondrian", "OptimalLattice"]
