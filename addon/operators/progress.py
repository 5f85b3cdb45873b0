# SPDX-License-Identifier: GPL-3.0-or-later
"""Work in small steps while the window stays alive: a bar in the status bar, and Esc to stop."""

import bpy


class Steps:
    """The timer and the bar of a modal operator, which must call `end`, however it goes."""

    def __init__(self, operator, context):
        self._workspace = context.workspace
        self._manager = context.window_manager
        self._timer = self._manager.event_timer_add(0.001, window=context.window)
        self._manager.modal_handler_add(operator)
        self.show(0, "")

    def show(self, fraction, text):
        """How far it is; the text stands beside the bar."""

        def draw(header, _context):  # Blender takes nothing but a plain function
            layout = header.layout
            layout.label(text="Stop", icon="EVENT_ESC")
            bar = layout.row()
            bar.ui_units_x = 10
            bar.progress(factor=fraction, text=f"{100 * fraction:.0f} %")
            layout.label(text=text, translate=False)

        self._workspace.status_text_set(draw)

    @staticmethod
    def asks_to_stop(event):
        return event.type == "ESC" and event.value == "PRESS"

    @staticmethod
    def asks_for_work(event):
        return event.type == "TIMER"

    def end(self):
        if self._timer is not None:
            self._manager.event_timer_remove(self._timer)
            self._timer = None
            self._workspace.status_text_set(None)


def possible(context):
    """Whether there is a window that can show progress and take a key."""
    return not bpy.app.background and context.window is not None
