class DimVarRangePat:
    """The values `lo <= name < hi` that a variant is for."""

    def __init__(self, name: str, lo: int, hi: int) -> None: ...
