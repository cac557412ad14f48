from discreet.core.baskets.sensitive_rules import SensitiveRule as SensitiveRule

from .attack import HidingAttack as HidingAttack
from .attack import hiding_attack as hiding_attack
from .blocking import Blocking as Blocking
from .blocking import confidence_interval as confidence_interval
from .blocking import support_interval as support_interval
from .border import BorderHiding as BorderHiding
from .exact import ExactHiding as ExactHiding
from .heuristic import HeuristicHiding as HeuristicHiding
from .methods import Compared as Compared
from .methods import compare_methods as compare_methods
from .methods import hider_of as hider_of
from .quality import HidingQuality as HidingQuality
from .quality import hiding_quality as hiding_quality
from .solver import Stop as Stop
