"""The figures of a run, printed at its end as "figure NAME VALUE UNIT"."""
_figures = []


def add(name, value, unit):
    _figures.append(f"figure {name} {value:.6g} {unit}")


def write():
    for line in _figures:
        print(line)
