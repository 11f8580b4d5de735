"""Models from files and to files: URDF in, exact JSON in and out."""

from .._files import whole_file as whole_file
from .json import load_model as load_model
from .json import model_from_dict as model_from_dict
from .json import model_to_dict as model_to_dict
from .json import save_model as save_model
from .urdf import load_urdf as load_urdf
from .urdf import parse_urdf as parse_urdf
