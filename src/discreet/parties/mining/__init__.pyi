from .matching.people_matching import PeopleMatching as PeopleMatching
from .rules.association_rules import AssociationRules as AssociationRules
from .rules.joint_rules import JointRules as JointRules
from .rules.vertical_rules import VerticalRules as VerticalRules
