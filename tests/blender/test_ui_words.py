"""Words: everything has a name and a tooltip, in Blender's manner, and every message can be translated."""

import ast

import bpy
import scene

ADDON = scene.ROOT / "addon"
TEXT_OF = {"Problem": 1, "State": 0}  # the place of the text among the arguments


def our_classes(base):
    """Every class of the extension that Blender has registered."""
    return [cls for cls in base.__subclasses__() if cls.__module__.startswith(scene.EXTENSION) and cls.is_registered]


def operators():
    names = [
        f"{kind}.{name}" for kind in ("object", "pose") for name in dir(getattr(bpy.ops, kind)) if "two_phase" in name
    ]
    return {name: getattr(getattr(bpy.ops, name.split(".")[0]), name.split(".")[1]) for name in names}


def test_operators_and_their_properties_have_names_and_tooltips():
    found = operators()
    assert len(found) == 8, sorted(found)
    for name, operator in found.items():
        rna = operator.get_rna_type()
        assert rna.name and rna.name[0].isupper(), name
        assert rna.description and not rna.description.endswith("."), name
        for prop in rna.properties:
            if prop.identifier != "rna_type":
                assert prop.name and prop.description, f"{name}: {prop.identifier}"
                assert not prop.description.endswith("."), f"{name}: {prop.identifier}"


def test_settings_have_names_and_tooltips():
    preferences = bpy.context.preferences.addons[scene.EXTENSION].preferences
    overlay = bpy.context.window_manager.two_phase_skin_overlay
    for group, names in ((preferences, {"threads"}), (overlay, {"support", "compensating", "intermediate"})):
        own = [prop for prop in group.bl_rna.properties if prop.identifier not in ("rna_type", "name", "bl_idname")]
        assert {prop.identifier for prop in own} == names
        for prop in own:
            assert prop.name and prop.description and not prop.description.endswith("."), prop.identifier
    for prop in bpy.types.Bone.bl_rna.properties:
        if prop.identifier.startswith("two_phase_skin"):
            assert prop.name and prop.description
            assert all(item.name and item.description for item in prop.enum_items)


def test_panels_and_menus_have_labels():
    for base in (bpy.types.Panel, bpy.types.Menu):
        found = our_classes(base)
        assert found
        assert all(cls.bl_label for cls in found)


def test_every_operator_is_in_a_menu_so_that_f3_finds_it():
    """Mending and hiding have their buttons: they are of no use elsewhere."""
    source = (ADDON / "ui" / "menus.py").read_text(encoding="utf-8")
    by_name = {cls.__name__: cls for cls in our_classes(bpy.types.Operator)}
    missing = [name for name in by_name if name not in source and not name.endswith("_mend")]
    assert missing == []


def _is_translated(node):
    """Whether a text goes through Blender's translation, or was made by what did."""
    if isinstance(node, ast.BinOp):
        return _is_translated(node.left) and _is_translated(node.right)
    if isinstance(node, ast.Call):
        function = node.func
        if isinstance(function, ast.Attribute) and function.attr == "format":
            return not isinstance(function.value, ast.Constant)
        return True
    return not isinstance(node, ast.Constant) or not node.value


def _untranslated(path):
    tree = ast.parse(path.read_text(encoding="utf-8"))
    for node in ast.walk(tree):
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and node.func.attr == "report":
            text = node.args[1]
        elif isinstance(node, ast.Raise) and isinstance(node.exc, ast.Call) and "UserError" in ast.dump(node.exc.func):
            text = node.exc.args[0]
        elif isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id in TEXT_OF:
            text = node.args[TEXT_OF[node.func.id]]
        else:
            continue
        words = isinstance(text, ast.JoinedStr) and any(
            isinstance(part, ast.Constant) and any(letter.isalpha() for letter in part.value) for part in text.values
        )
        if words or not _is_translated(text):
            yield f"{path.relative_to(ADDON)}:{node.lineno}"


def test_every_message_can_be_translated():
    found = [place for path in ADDON.rglob("*.py") for place in _untranslated(path)]
    assert found == []
