class Target:
    """What runs a module."""

class CudaTarget(Target):
    def __init__(self, device: str, architecture: str | None = None, *, arch: str | None = None) -> None: ...

class CpuTarget(Target):
    def __init__(self) -> None: ...

class AmxTarget(Target):
    def __init__(self, device: str | None = None, architecture: str | None = None) -> None: ...
