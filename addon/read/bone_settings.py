# SPDX-License-Identifier: GPL-3.0-or-later
"""What an artist sets for a bone: where its scale goes, and in which phases it moves the mesh."""

import bpy
from bpy.props import EnumProperty

SCALE = "two_phase_skin_scale"  # the properties' names on every bone
PASSES = "two_phase_skin_passes"
PHASES = {"nonrigid": "two_phase_skin_nonrigid", "rigid": "two_phase_skin_rigid"}

_SCALE_ITEMS = (
    (
        "AUTO",
        "From Inherit Scale",
        "As the parent's Passes Scale and the bone's Inherit Scale say: None and None (Legacy) do not",
    ),
    ("YES", "Yes", "The parent's scale goes on into this bone: the skin around the joint is scaled as a whole"),
    ("NO", "No", "The parent's scale ends at this bone: the skin of the parent is scaled before it bends"),
)
_PASSES_ITEMS = (
    (
        "AUTO",
        "From Inherit Scale",
        "As Inherit Scale of each child says: None and None (Legacy) stop it, all others do not",
    ),
    ("YES", "Yes", "The scale of this bone goes on into its children, unless a child says otherwise"),
    ("NO", "No", "The scale of this bone ends at it, unless a child says otherwise"),
)
_PHASE_ITEMS = (
    ("AUTO", "Automatic", "On if vertices hang on the bone or, as a support joint, on bones below it"),
    ("ON", "On", "The bone acts in this phase wherever vertices depend on it"),
    ("OFF", "Off", "The mesh is shown as if the bone did nothing in this phase"),
)
_COMPENSATED = {"NONE", "NONE_LEGACY"}  # of Inherit Scale: the parent compensates towards such a bone

PROPERTIES = {
    PASSES: (
        "Passes Scale",
        "Whether this bone's scale goes on into its children, for the skin alone",
        _PASSES_ITEMS,
    ),
    SCALE: (
        "Takes Scale",
        "How Two-Phase Skin treats the scale of this bone's parent; the pose stays as it is",
        _SCALE_ITEMS,
    ),
    PHASES["nonrigid"]: ("Scale Phase", "Whether the bone's scale and shear act on the mesh", _PHASE_ITEMS),
    PHASES["rigid"]: ("Rigid Phase", "Whether the bone's rotation and translation act on the mesh", _PHASE_ITEMS),
}


def inherits_scale(bone):
    """Whether a bone is skinned as one that inherits its parent's scale."""
    setting = getattr(bone, SCALE)
    if setting == "AUTO" and bone.parent is not None:
        setting = getattr(bone.parent, PASSES)
    return bone.inherit_scale not in _COMPENSATED if setting == "AUTO" else setting == "YES"


def is_associated(bone, phase):
    """Whether a bone acts on the mesh in that phase."""
    return getattr(bone, PHASES[phase]) != "OFF"


class _State:
    version = 0


def version():
    """A number that is another whenever a setting of any bone was changed."""
    return _State.version


def _changed(bone, _context):
    _State.version += 1
    bone.id_data.update_tag()


def register():
    for identifier, (name, description, items) in PROPERTIES.items():
        setting = EnumProperty(
            name=name,
            description=description,
            items=items,
            default="AUTO",
            options=set(),
            override={"LIBRARY_OVERRIDABLE"},
            update=_changed,
        )
        setattr(bpy.types.Bone, identifier, setting)


def unregister():
    for identifier in PROPERTIES:
        delattr(bpy.types.Bone, identifier)
