import sys
from pathlib import Path
sys.path.insert(0, str(Path(__file__).resolve().parent))
import checks, window
window.run([checks.check_it_installs_from_disk]+[getattr(checks,n) for n in 'check_large_meshes_wait_in_playback check_buttons_mend_what_is_off check_compare check_overlay check_recipes_on_the_rigify_human'.split()])
