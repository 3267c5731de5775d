"""Who takes part in a run of the lab: what each writer does, by which engine, with which validations."""

from __future__ import annotations

import panel as pn
import panel_material_ui as pmui

from explorer.lab.stepper import NAMES
from explorer.spec.commits.operations import ISOLATION, TAKE_PART, Operation, operation_title
from explorer.ui.conflict import switched_on, validation_switches
from explorer.ui.widgets import CHOICE, WRAP, heading, note

NOBODY = ""


def _choices() -> dict[str, str]:
    """What a writer or reader may do, in words, to `kind@engine`."""
    return {
        operation_title(name) + (f", by {e}" if e != "java" else ""): f"{name}@{e}"
        for name, kind in TAKE_PART.items()
        for e in kind.engines
    }


class Writers:
    """Fields for two or three writers or readers, the isolation level and the format version; switches for validations
    beside."""

    def __init__(self) -> None:
        self.writers = [
            pmui.Select(label=f"writer {n}", options=_choices(), value="append@java", width=224, **CHOICE)
            for n in NAMES[:2]
        ]
        third = {"nobody": NOBODY, **_choices()}
        self.writers.append(pmui.Select(label="writer C", options=third, value=NOBODY, width=224, **CHOICE))
        self.isolation = pmui.Select(
            label="isolation", options=list(ISOLATION), value="serializable", width=132, **CHOICE
        )
        versions = {"2: delete files": 2, "3: deletion vectors": 3}
        self.version = pmui.Select(label="format version", options=versions, value=2, width=150, **CHOICE)
        self.fields = pn.Row(*self.writers, self.isolation, self.version, styles=WRAP)
        self.checks = [pn.Column(width=520) for _ in self.writers]
        self.validations = pn.Row(*self.checks, visible=False, styles=WRAP)
        for control in (*self.writers, self.isolation):
            control.param.watch(lambda _: self._offer(), "value")
        self._offer()

    def _chosen(self) -> list[tuple[str, str]]:
        """(kind, engine) of each writer that takes part."""
        return [tuple(w.value.split("@")) for w in self.writers if w.value]  # type: ignore[misc]

    def _offer(self) -> None:
        """One switch for each validation that a writer's operation offers, set as its engine sets it."""
        chosen = self._chosen()
        for i, box in enumerate(self.checks):
            box[:] = []
            if i >= len(chosen):
                continue
            kind, engine = chosen[i]
            box.append(heading(f"writer {NAMES[i]}, {operation_title(kind)}"))
            switches = validation_switches(Operation(kind, self.isolation.value, engine), 510)
            box.append(switches or note("no validations to set", margin=(2, 10)))

    def operations(self) -> list[Operation]:
        """What the writers are to do."""
        chosen = []
        for (kind, engine), box in zip(self._chosen(), self.checks, strict=False):
            usual = Operation(kind, self.isolation.value, engine)
            groups = [g for g in box.objects if isinstance(g, pn.widgets.CheckBoxGroup)]
            checks = switched_on(groups[0]) if groups else usual.validations
            chosen.append(
                usual if checks == usual.validations else Operation(kind, self.isolation.value, engine, checks)
            )
        return chosen
