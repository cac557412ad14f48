"""Privacy between parties: protocols whose parties learn the common result, and not each other's records."""

from discreet.parties.errors import FrameError, PartyError, PeerLostError, SessionError
from discreet.parties.protocol import Party, Protocol
from discreet.parties.sets.candidate_union import CandidateUnion
from discreet.parties.sets.items import Union
from discreet.parties.sets.set_union import SetUnion
from discreet.parties.simulation import Simulation, simulate
from discreet.parties.sums.secure_sum import SecureSum, Sum

__all__ = [
    "CandidateUnion",
    "FrameError",
    "Party",
    "PartyError",
    "PeerLostError",
    "Protocol",
    "SecureSum",
    "SessionError",
    "SetUnion",
    "Simulation",
    "Sum",
    "Union",
    "simulate",
]
