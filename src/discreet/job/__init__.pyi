from .descriptions import roles_of as roles_of
from .kinds import BasketSection as BasketSection
from .kinds import MissingRoleError as MissingRoleError
from .kinds import SketchSection as SketchSection
from .model import Job as Job
from .running import run as run
