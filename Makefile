# Every target sets up what it needs in build/ first. `make help` lists them.
#   make test PYTHON=3.11            choose a Python by its version
#   make test PYTHON=/opt/py/bin/python3

export PYTHON
SETUP := tools/setup.sh

.PHONY: help demo study test test-core test-numeric test-study test-blender sanitize fuzz soak bench bench-blender lint test-gui docs system-packages clean
.PHONY: extension wheels keep-file test-python test-wheel test-extension test-foreign

help:           ## this list
	@grep -hE '^[a-z-]+:[a-z ]*##' Makefile | awk -F':[a-z ]*## *' '{ printf "  make %-16s %s\n", $$1, $$2 }'
	@echo "  PYTHON=3.13, PYTHON=3.11 or PYTHON=/path/to/python chooses the Python; the default is the newest of the two."

demo:           ## render the comparison and the animation into build/demo/
	@python="$$($(SETUP) package)" && "$$python" tools/limit.py 900 "$$python" demo/run.py

study:          ## judge skins by elastic limbs: docs/results/physical_judge.md, pictures in build/study/; an hour, once
	@python="$$($(SETUP) package study)" && "$$python" tools/limit.py 14400 "$$python" study/physical.py

test:           ## all tests: the core's own, the numeric ones, the study's, then those in Blender
	@$(MAKE) --no-print-directory test-core
	@$(MAKE) --no-print-directory test-numeric
	@$(MAKE) --no-print-directory test-study
	@$(MAKE) --no-print-directory test-blender

test-core:      ## the tests of the C core alone; needs no Python
	@tools/test_core.sh

sanitize:       ## the core's tests and the numeric ones under AddressSanitizer, UBSan, ThreadSanitizer and Valgrind; an hour
	@tools/test_core.sh all
	@python="$$($(SETUP) package test)" && tools/test_sanitized.sh "$$python"

fuzz:           ## fuzz the core with libFuzzer and the Python module with atheris, FUZZ_SECONDS=600 each; needs Clang
	@python="$$($(SETUP) package)" && tools/fuzz.sh "$$python"

soak:           ## random edits of a Rigify character in Blender: SOAK_STEPS=10000, SOAK_SEED= to replay one
	@python="$$($(SETUP) package test)" && "$$python" tools/limit.py 14400 "$$python" tests/blender/soak.py $(or $(SOAK_STEPS),10000) $(SOAK_SEED)

# -P: import the package that was built, not its sources in this folder
test-numeric:   ## the tests that need no Blender
	@python="$$($(SETUP) package test)" && "$$python" tools/limit.py 1500 "$$python" -P -m pytest tests/numeric tests/usd tests/test_readme.py
	@python="$$($(SETUP) package)" && "$$python" -P fuzz/binding.py --replay fuzz/corpus/binding.txt

test-study:     ## the elastic judge against known solutions, and the laws of Flesh
	@python="$$($(SETUP) package study)" && "$$python" tools/limit.py 600 "$$python" -P -m pytest tests/study

test-blender:   ## the tests in real Blender, without a window
	@python="$$($(SETUP) package test)" && "$$python" tools/limit.py 1800 "$$python" tools/pytest_blender.py tests/blender

test-gui:       ## checks in a real Blender window, its pictures in build/gui/; needs root. FIGURES=1: for the manual too
	@$(MAKE) --no-print-directory extension
	@python="$$($(SETUP) blender)" && "$$python" tools/test_gui.py build/extension $(if $(FIGURES),--figures)

docs:           ## the manual as a site, with all its links checked: build/site/index.html
	@python="$$(tools/venv.sh docs "3.13 3.11" -r requirements/docs.txt)" && "$$python" -m mkdocs build --strict && echo build/site/index.html

# its requirements are installed here, since nothing else needs them
bench:          ## measure the speed beside other programs and write docs/performance.md; QUICK=1: less than 2 minutes
	@python="$$($(SETUP) package)" && \
	"$$python" -m pip --disable-pip-version-check install -qq -r requirements/bench.txt >&2 && \
	"$$python" tools/limit.py 1800 "$$python" bench/run.py $(if $(QUICK),--quick)

bench-blender:  ## measure a frame in Blender beside the Armature modifier and write docs/results/; PYTHON=3.11: Blender 4.5
	@python="$$($(SETUP) package test)" && env -u OPENBLAS_CORETYPE -u OPENBLAS_L2_SIZE \
		"$$python" tools/limit.py 1800 "$$python" bench/blender_frame.py --page

lint:           ## ruff, mypy and clang-format: look, change nothing
	@python="$$($(SETUP) test lint)" && tools/lint.sh "$$python"

# for this one job a Python of its own: what it brings must not meet what Blender needs
PACKAGING = tools/venv.sh package "3.13 3.11" -r requirements/package.txt
BPY = "$$blender" -c 'import importlib.util as u; print(u.find_spec("bpy").submodule_search_locations[0])'

extension:      ## the add-on for every platform, to install in Blender: build/extension/*.zip
	@blender="$$($(SETUP) blender)" && python="$$($(PACKAGING))" && "$$python" tools/package/produce.py --blender "$$($(BPY))"

wheels:         ## wheels for every platform and the source distribution, fit for an index: build/wheels
	@python="$$($(PACKAGING))" && "$$python" tools/package/produce.py && "$$python" tools/package/sdist.py

test-python: wheels ## the wheel with each NumPy from 1.23 to 2.5; the source distribution, built without a network
	@python="$$($(PACKAGING))" && "$$python" tools/limit.py 3000 "$$python" -m pytest tests/packages/test_python.py

# its Python is not the one that built it: what is tested is what another machine gets
test-wheel:     ## the numeric tests with this system's wheel of build/wheels
	@python="$$(tools/venv.sh wheel "3.13 3.11" -r requirements/test.txt -r requirements/wheel.txt)" && \
	"$$python" -m pip --disable-pip-version-check install -q --no-index --no-deps --force-reinstall \
		--find-links build/wheels two-phase-skinning && \
	"$$python" tools/limit.py 1500 "$$python" -P -m pytest tests/numeric tests/usd tests/test_readme.py \
		--ignore tests/numeric/test_instructions.py  # it counts those of one compiler

# the wheels' compiler and options, on systems that are not this one
test-foreign:   ## the core's own tests for Windows under Wine, and for Linux on arm64 under QEMU
	@python="$$($(PACKAGING))" && "$$python" tools/package/foreign.py

test-extension: extension ## install it into five Blenders from 4.2 to 5.3, and with WINDOW=1 into 4.3 with a window; 6 GB
	@python="$$($(PACKAGING))" && "$$python" tools/limit.py 3000 "$$python" -m pytest \
		tests/packages/test_archives.py tests/packages/test_install.py

keep-file:      ## add the file of this version to tests/blender/kept, from what `make extension` made
	@python="$$($(PACKAGING))" && "$$python" tests/packages/kept.py

system-packages: ## what the other targets need of Debian or Ubuntu; FOR="foreign window": for test-foreign, test-gui
	@tools/system_packages.sh $(FOR)

clean:          ## remove everything that was made
	rm -rf build *.egg-info .pytest_cache .mypy_cache .ruff_cache .hypothesis
	find . -name __pycache__ -type d -not -path './.git/*' -prune -exec rm -rf {} +
