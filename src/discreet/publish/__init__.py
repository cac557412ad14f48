"""Privacy at publication: publishers turn a table into a release that keeps a promise."""

from discreet.publish.generalization import Generalization
from discreet.publish.mondrian import Mondrian

__all__ = ["Generalization", "Mondrian"]
