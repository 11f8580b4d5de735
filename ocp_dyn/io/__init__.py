"""Models from files and to files, constraints as plain data, and other libraries' layouts of q.

Its page is README.md beside this file.
"""

from .._base.files import whole_file as whole_file
from .._base.rooms import only_names as _only_names
from .biomod import load_biomod as load_biomod
from .biomod import parse_biomod as parse_biomod
from .faults import Fault as Fault
from .faults import file_faults as file_faults
from .formats import load as load
from .json import load_model as load_model
from .json import model_from_dict as model_from_dict
from .json import model_to_dict as model_to_dict
from .json import save_model as save_model
from .mjcf import Actuator as Actuator
from .mjcf import FixedTendon as FixedTendon
from .mjcf import MjcfFile as MjcfFile
from .mjcf import load_mjcf as load_mjcf
from .mjcf import parse_mjcf as parse_mjcf
from .mjcf import read_mjcf as read_mjcf
from .opensim import load_osim as load_osim
from .opensim import osim_spheres as osim_spheres
from .opensim import osim_text as osim_text
from .opensim import parse_osim as parse_osim
from .opensim import write_osim as write_osim
from .pinocchio import from_pinocchio as from_pinocchio
from .rbdl import load_rbdl as load_rbdl
from .rbdl import parse_rbdl as parse_rbdl
from .rbdl import rbdl_constraint_sets as rbdl_constraint_sets
from .sdf import load_sdf as load_sdf
from .sdf import parse_sdf as parse_sdf
from .shapes.placed import read_shapes as read_shapes
from .simulators import Ball as Ball
from .simulators import Box as Box
from .simulators import Cylinder as Cylinder
from .simulators import MjcfOptions as MjcfOptions
from .simulators import mjcf_text as mjcf_text
from .simulators import urdf_text as urdf_text
from .simulators import write_mjcf as write_mjcf
from .simulators import write_urdf as write_urdf
from .urdf import load_urdf as load_urdf
from .urdf import parse_urdf as parse_urdf
from .xml import XmlElement as XmlElement
from .xml import xml_tree as xml_tree

_only_names(globals())
