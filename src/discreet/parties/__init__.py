"""Privacy between parties: protocols whose parties learn the common result, and not each other's records."""

from discreet.parties.errors import FrameError, PartyError, PeerLostError, SessionError
from discreet.parties.ot.k_of_n_transfer import KOfNTransfer
from discreet.parties.ot.oblivious_transfer import ObliviousTransfer
from discreet.parties.protocol import Party, Protocol
from discreet.parties.sets.candidate_union import CandidateUnion
from discreet.parties.sets.intersection_size import IntersectionSize
from discreet.parties.sets.set_intersection import SetIntersection
from discreet.parties.sets.set_union import SetUnion
from discreet.parties.shares.comparison import Comparison
from discreet.parties.shares.scalar_product import ScalarProduct
from discreet.parties.simulation import Simulation, simulate
from discreet.parties.sums.secure_sum import SecureSum, Sum

__all__ = [
    "CandidateUnion",
    "Comparison",
    "FrameError",
    "IntersectionSize",
    "KOfNTransfer",
    "ObliviousTransfer",
    "Party",
    "PartyError",
    "PeerLostError",
    "Protocol",
    "ScalarProduct",
    "SecureSum",
    "SessionError",
    "SetIntersection",
    "SetUnion",
    "Simulation",
    "Sum",
    "simulate",
]
