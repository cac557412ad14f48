from discreet.kinds.baskets import BasketSection as BasketSection
from discreet.kinds.roles import MissingRoleError as MissingRoleError
from discreet.kinds.sketches import SketchSection as SketchSection

from .descriptions import roles_of as roles_of
from .model import Job as Job
from .running import run as run
