"""The protocols with counts of one opened and two parties admitted: what comes out is then that of the pooled data."""

from __future__ import annotations

from functools import partial

from discreet import parties
from discreet.parties import mining

_TWO = {"two_parties_see_each_other": True}
_ALL = {**_TWO, "min_count": 1}

SecureSum = partial(parties.SecureSum, **_TWO)
SetUnion = partial(parties.SetUnion, **_TWO)
CandidateUnion = partial(parties.CandidateUnion, **_TWO)
AnonymizeTogether = partial(mining.AnonymizeTogether, **_TWO)
AssociationRules = partial(mining.AssociationRules, **_ALL)
HorizontalKMeans = partial(mining.HorizontalKMeans, **_ALL)
HorizontalLogistic = partial(mining.HorizontalLogistic, **_ALL)
HorizontalNaiveBayes = partial(mining.HorizontalNaiveBayes, **_ALL)
HorizontalQuantiles = partial(mining.HorizontalQuantiles, **_ALL)
HorizontalRidge = partial(mining.HorizontalRidge, **_ALL)
HorizontalStatistics = partial(mining.HorizontalStatistics, **_ALL)
HorizontalTree = partial(mining.HorizontalTree, **_ALL)
VerticalKMeans = partial(mining.VerticalKMeans, min_count=1)
VerticalNaiveBayes = partial(mining.VerticalNaiveBayes, min_count=1)
VerticalRidge = partial(mining.VerticalRidge, min_count=1)
VerticalRules = partial(mining.VerticalRules, min_count=1)
VerticalStatistics = partial(mining.VerticalStatistics, min_count=1)
VerticalTree = partial(mining.VerticalTree, min_count=1)
